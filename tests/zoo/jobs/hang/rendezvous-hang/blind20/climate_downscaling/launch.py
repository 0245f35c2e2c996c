"""Starts one process a device on this node. On the cluster the scheduler does the same."""
import argparse
import os
import subprocess
import sys


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--nproc", type=int, default=2)
    p.add_argument("--config", default="configs/era5.yaml")
    return p.parse_args()


def main():
    args = parse()
    children = []
    for rank in range(args.nproc):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(args.nproc),
                   MASTER_ADDR="127.0.0.1")
        children.append(subprocess.Popen([sys.executable, "train.py", "--config", args.config], env=env))
    codes = [child.wait() for child in children]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
