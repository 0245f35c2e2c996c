import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from roles import Critic, Generator, Judge


def worker(rank, port, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=3)
    torch.manual_seed(rank)
    pair = dist.new_group([0, 1])
    try:
        [Generator, Critic, Judge][rank](pair).run(args.steps, args.every, args.batch)
    finally:
        dist.destroy_process_group()


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=260)
    parser.add_argument("--every", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64)
    mp.spawn(worker, args=(free_port(), parser.parse_args()), nprocs=3)
