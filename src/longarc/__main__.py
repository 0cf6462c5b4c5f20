"""`python -m longarc` is the `longarc` command; torchrun starts the processes of a training this way."""

from longarc.cli.main import run

if __name__ == "__main__":
    run()
