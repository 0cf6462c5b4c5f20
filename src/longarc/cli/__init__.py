"""The command line: one module per command. Heavy libraries are imported only when a command runs."""
