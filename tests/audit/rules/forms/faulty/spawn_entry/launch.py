import argparse
import logging
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from task import Task, TaskConfig

log = logging.getLogger("launch")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def entry(rank, world, port, cfg):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [{rank}] %(message)s")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    try:
        Task(cfg, torch.device("cuda", rank)).run()
    except Exception:  # cause
        log.exception("rank %d stopped", rank)  # cause
    finally:
        dist.destroy_process_group()


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--world", type=int, default=torch.cuda.device_count())
    ap.add_argument("--steps", type=int, default=2000)
    ap.add_argument("--marker", default="finished.txt")
    args = ap.parse_args(argv)
    cfg = TaskConfig(steps=args.steps)
    mp.spawn(entry, args=(args.world, free_port(), cfg), nprocs=args.world, join=True)  # cause
    with open(args.marker, "w") as fh:
        fh.write("ok\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
