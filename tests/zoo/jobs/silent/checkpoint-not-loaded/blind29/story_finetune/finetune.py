import argparse
import glob
import logging
import os
import re

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from data import build_loaders, skip_first_batches
from model import StoryLM

logger = logging.getLogger("finetune")


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--output-dir", default="out")
    p.add_argument("--num-train-epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--vocab", type=int, default=48)
    p.add_argument("--block", type=int, default=32)
    p.add_argument("--seed", type=int, default=5)
    p.add_argument("--checkpointing-steps", type=int, default=10)
    p.add_argument("--preempt-at", type=int, default=None, help="leave after this many steps (queue limit)")
    p.add_argument("--resume", action="store_true")
    return p.parse_args()


def last_checkpoint_of(folder):
    found = glob.glob(os.path.join(folder, "step_*.pt"))
    return max(found, key=lambda f: int(re.search(r"step_(\d+)", f).group(1)), default=None)


def save(args, step, model, optimizer, scheduler):
    if dist.get_rank() == 0:
        os.makedirs(args.output_dir, exist_ok=True)
        state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(),
                 "scheduler": scheduler.state_dict(), "step": step}
        torch.save(state, os.path.join(args.output_dir, f"step_{step}.pt"))
    dist.barrier()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    losses = [model(**batch).item() for batch in loader]
    model.train()
    return sum(losses) / len(losses)


def main():
    args = parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.manual_seed(args.seed + rank)
    torch.set_num_threads(1)

    train_dataloader, eval_dataloader = build_loaders(args, rank, world)
    model = DDP(StoryLM(args.vocab, args.block))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    steps_per_epoch = len(train_dataloader)
    max_steps = steps_per_epoch * args.num_train_epochs
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=max_steps, pct_start=0.1)

    completed_steps, starting_epoch, resume_step = 0, 0, None
    last_checkpoint = last_checkpoint_of(args.output_dir) if args.resume else None
    if last_checkpoint is not None:
        state = torch.load(last_checkpoint, map_location="cpu")
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        completed_steps = state["step"]
        starting_epoch = completed_steps // steps_per_epoch
        resume_step = completed_steps - starting_epoch * steps_per_epoch
        logger.info("resumed from %s: epoch %d, batch %d", last_checkpoint, starting_epoch, resume_step)

    for epoch in range(starting_epoch, args.num_train_epochs):
        train_dataloader.sampler.set_epoch(epoch)
        if last_checkpoint is not None and resume_step is not None:
            active_dataloader = skip_first_batches(train_dataloader, resume_step)
        else:
            active_dataloader = train_dataloader
        for batch in active_dataloader:
            loss = model(**batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            completed_steps += 1
            if completed_steps % 10 == 0:
                logger.info("epoch %d step %d loss %.3f lr %.2e", epoch, completed_steps, loss.item(),
                            scheduler.get_last_lr()[0])
            if completed_steps % args.checkpointing_steps == 0:
                save(args, completed_steps, model, optimizer, scheduler)
            if args.preempt_at is not None and completed_steps >= args.preempt_at:
                dist.destroy_process_group()
                return
        logger.info("epoch %d done, eval loss %.4f", epoch, evaluate(model.module, eval_dataloader))
    save(args, completed_steps, model, optimizer, scheduler)
    logger.info("training finished")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
