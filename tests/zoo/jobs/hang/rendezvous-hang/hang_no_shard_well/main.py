import argparse
import os
import socket

import torch.multiprocessing as mp

from worker import run


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--procs", type=int, default=3)
    args = parser.parse_args()
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(free_port())
    os.environ["OMP_NUM_THREADS"] = "1"
    mp.spawn(run, args=(args.procs, "shards"), nprocs=args.procs)
