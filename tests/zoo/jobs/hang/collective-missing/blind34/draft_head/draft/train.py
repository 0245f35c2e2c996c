import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from .data import PromptDataset, collate
from .model import DraftHead, NoValidAnchorsError

log = logging.getLogger("draft")


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=4)
    p.add_argument("--vocab", type=int, default=128)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--block", type=int, default=4)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--out", default="out")
    return p.parse_args()


def train_epoch(model, loader, optimizer, scheduler, epoch):
    model.train()
    total, steps, skipped = 0.0, 0, 0
    for step, (ids, lengths) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        try:
            loss = model(ids, lengths)
        except NoValidAnchorsError as exc:
            skipped += 1
            log.debug("epoch %d step %d: %s", epoch, step, exc)
            continue
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
        steps += 1
        if step % 10 == 0 and dist.get_rank() == 0:
            log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
    return total / max(steps, 1), skipped


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    torch.manual_seed(17)
    data = PromptDataset(200, args.vocab, 48, seed=5)
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler, collate_fn=collate)
    model = DDP(DraftHead(args.vocab, args.dim, args.block))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(loader))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        loss, skipped = train_epoch(model, loader, optimizer, scheduler, epoch)
        dist.barrier()
        if rank == 0:
            os.makedirs(args.out, exist_ok=True)
            torch.save(model.module.state_dict(), os.path.join(args.out, f"draft_{epoch}.pt"))
        log.info("epoch %d mean loss %.4f skipped %d", epoch, loss, skipped)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
