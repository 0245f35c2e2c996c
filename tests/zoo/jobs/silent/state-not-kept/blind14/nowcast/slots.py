"""Runs the training in queue slots: every slot goes on from the last checkpoint."""
import argparse
import subprocess
import sys


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--slots", type=int, nargs="+", default=[6, 12])
    p.add_argument("--nproc", type=int, default=2)
    args = p.parse_args()
    for until in args.slots:
        cmd = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(args.nproc), "train.py", "--until", str(until)]
        print("slot until epoch", until, flush=True)
        rc = subprocess.run(cmd).returncode
        if rc:
            sys.exit(rc)


if __name__ == "__main__":
    main()
