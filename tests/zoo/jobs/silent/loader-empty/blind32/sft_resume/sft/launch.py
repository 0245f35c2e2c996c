import argparse
import logging
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from sft.trainer import SFTTrainer


def worker(rank, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=args.nproc)
    SFTTrainer(args).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--nproc", type=int, default=2)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--save-every", type=int, default=12)
    p.add_argument("--out", default="out")
    p.add_argument("--resume", action="store_true")
    p.add_argument("--port", type=int, default=29683)
    args = p.parse_args()
    mp.spawn(worker, args=(args,), nprocs=args.nproc)
