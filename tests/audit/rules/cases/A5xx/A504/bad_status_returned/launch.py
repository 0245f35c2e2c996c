import os
import sys


def run(values):
    for value in values:
        status = os.system(f"torchrun --standalone --nproc-per-node 4 train.py --lr {value}")
        if status:
            print("stopped")
            return status
    return 0


def main():
    sys.exit(run(["1e-3", "3e-4"]))


main()
