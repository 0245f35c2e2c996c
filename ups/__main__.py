"""`python -m ups`: the command line `ups` under a Python of choice."""

from ups.cli import main

if __name__ == "__main__":
    main()
