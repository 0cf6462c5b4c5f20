"""Whole experiments: treebanks × presets × systems × seeds, measured, and put beside what the paper published."""
