import argparse
import contextlib
import logging
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from corpus import batches, load_shard
from gpt import GPT, GPTConfig

logger = logging.getLogger("pretrain")


def setup():
    dist.init_process_group(backend="gloo", timeout=timedelta(seconds=60))
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING)
    torch.manual_seed(1234)
    return rank, dist.get_world_size()


def save(model, path, step):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    torch.save({"model": model.state_dict(), "step": step}, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", default="text")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--save-every", type=int, default=6)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--out", default="runs/base")
    args = parser.parse_args()

    rank, world = setup()
    tokens = load_shard(args.text, rank)
    gpt = GPT(GPTConfig())
    model = DistributedDataParallel(gpt)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

    for step, (x, y) in enumerate(batches(tokens, gpt.cfg.context, args.batch_size, args.steps, seed=rank), 1):
        last = step % args.accumulate == 0
        with contextlib.nullcontext() if last else model.no_sync():
            _, loss = model(x, y)
            (loss / args.accumulate).backward()
        if last:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        logger.info("step %d loss %.3f", step, loss.item())
        if step % args.save_every == 0 and rank == 0:
            save(gpt, f"{args.out}/step{step}.pt", step)

    mean = torch.tensor([loss.item()])
    dist.all_reduce(mean)
    if rank == 0:
        logger.info("final loss %.3f over %d ranks", mean.item() / world, world)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
