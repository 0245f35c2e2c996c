import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from .data import BOS, WORDS, Captions, collate
from .modeling import CaptionModel


def validate(model, loader):
    model.eval()
    total, n = 0.0, 0
    with torch.no_grad():
        for pixels, ids, labels in loader:
            loss, _ = model(pixels, ids, labels)
            total, n = total + loss.item(), n + 1
    model.train()
    return total / n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--out", default="captioner.pt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(11)

    train_set, val_set = Captions(1536, 1), Captions(128, 2)
    sampler = DistributedSampler(train_set, world, rank, shuffle=True, seed=5)
    train = DataLoader(train_set, args.batch_size, sampler=sampler, collate_fn=collate, drop_last=True)
    val = DataLoader(val_set, 64, collate_fn=collate)
    model = DDP(CaptionModel(len(WORDS)))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        run = 0.0
        for pixels, ids, labels in train:
            loss, _ = model(pixels, ids, labels)
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            run += loss.item()
        if rank == 0:
            print(f"epoch {epoch} train {run / len(train):.4f} val {validate(model.module, val):.4f}", flush=True)
        dist.barrier()
    if rank == 0:
        model.eval()
        ids = model.module.generate(torch.stack([val_set[i][0] for i in range(3)]), BOS, 8)
        for row in ids.tolist():
            print("sample:", " ".join(WORDS[i] for i in row))
        torch.save(model.module.state_dict(), args.out)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
