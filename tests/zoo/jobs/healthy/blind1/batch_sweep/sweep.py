import subprocess
import sys


def attempt(batch):
    command = ["torchrun", "--standalone", "--nproc-per-node", "2", "train.py", "--batch", str(batch)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"batch {batch} does not fit (code {done.returncode})", flush=True)
    return done.returncode


def main():
    for batch in (4096, 512, 64):
        if attempt(batch) == 0:
            print("trained with batch", batch)
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
