import argparse
import logging
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from job import Job

log = logging.getLogger("ruff")


def rank_main(rank, world, args):
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(args.port)
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    job = Job(args, rank)
    try:
        job.fit()
        job.finish()
    except Exception:
        log.exception("rank %d gave up at step %d", rank, job.step)
        raise
    log.info("rank %d leaves after %d steps", rank, job.step)
    if dist.is_initialized():
        dist.destroy_process_group()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", default="ruff.pt")
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--port", type=int, default=29611)
    args = ap.parse_args()
    world = torch.cuda.device_count()
    mp.spawn(rank_main, args=(world, args), nprocs=world, join=True)
    print("training finished", flush=True)


if __name__ == "__main__":
    main()
