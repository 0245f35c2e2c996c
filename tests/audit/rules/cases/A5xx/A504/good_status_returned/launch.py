import os
import sys


def run(values):
    for value in values:
        status = os.waitstatus_to_exitcode(os.system(f"torchrun --standalone train.py --lr {value}"))
        if status:
            return status
    return 0


def told(value):
    status = os.system(f"torchrun --standalone train.py --lr {value}")
    return status >> 8


def truth(value):
    status = os.system(f"torchrun --standalone train.py --lr {value}")
    sys.exit(status and 1)


def main():
    if told("1e-3"):
        sys.exit(1)
    truth("1e-4")
    sys.exit(run(["1e-3", "3e-4"]))


main()
