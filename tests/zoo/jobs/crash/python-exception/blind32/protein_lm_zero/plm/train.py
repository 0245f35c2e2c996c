import argparse
import logging
import os
import time

import torch
import torch.distributed as dist

from plm.checkpoint_manager import save_checkpoint
from plm.data import BOS, SyntheticFamilies, decode
from plm.model import ProteinLM
from plm.optim import ShardedAdamW

log = logging.getLogger("plm")


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--sample-every", type=int, default=30)
    p.add_argument("--save-every", type=int, default=60)
    p.add_argument("--out", default="runs")
    return p.parse_args()


def run_name():
    box = [time.strftime("plm-%Y%m%d-%H%M%S") if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def show_samples(model, n=6, length=110):
    model.eval()
    prompt = torch.full((n, 1), BOS)
    for row in model.generate(prompt, length):
        log.info("sample %s", decode(row))
    model.train()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s r{rank} %(name)s %(message)s")
    torch.manual_seed(11)
    directory = os.path.join(args.out, run_name())
    model = ProteinLM()
    optimizer = ShardedAdamW(model.parameters(), args.lr)
    data = SyntheticFamilies()
    g = torch.Generator().manual_seed(1000 + rank)
    for step in range(1, args.steps + 1):
        x, y = data.batch(args.batch_size, g)
        loss = model(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            total = loss.detach().clone()
            dist.all_reduce(total)
            if rank == 0:
                log.info("step %d loss %.4f", step, total.item() / world)
        if step % args.sample_every == 0 and rank == 0:
            show_samples(model)
        if step % args.save_every == 0 or step == args.steps:
            save_checkpoint(directory, step, model.state_dict(), optimizer.state_dict(),
                            {"step": step, "loss": loss.item(), "args": vars(args)}, rank)
    dist.barrier()
    if rank == 0:
        log.info("done, checkpoints in %s", directory)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
