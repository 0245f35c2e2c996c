import argparse
import os
import socket

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world, port, epochs):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    from trainer import Trainer
    Trainer(rank, world).fit(epochs)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--world", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=3)
    a = ap.parse_args()
    mp.spawn(worker, args=(a.world, free_port(), a.epochs), nprocs=a.world)
