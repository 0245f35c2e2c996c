import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from lm import Chats, TinyLM, collate, sum_loss


def windows(loader, size):
    out = []
    for batch in loader:
        out.append(batch)
        if len(out) == size:
            yield out
            out = []
    if out:
        yield out


def average_gradients(module, tokens):
    n = torch.tensor(float(tokens))
    dist.all_reduce(n)
    flat = torch.cat([p.grad.flatten() for p in module.parameters()])
    dist.all_reduce(flat)
    flat /= n
    at = 0
    for p in module.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()
    return n.item()


def evaluate(module, loader):
    module.eval()
    t = torch.zeros(2)
    with torch.no_grad():
        for ids, labels in loader:
            t += torch.tensor([sum_loss(module(ids), labels).item(), float((labels != -100).sum())])
    dist.all_reduce(t)
    module.train()
    return (t[0] / t[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--accumulation-steps", type=int, default=3)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(1337)

    train_set, val_set = Chats(2000, 1), Chats(200, 2)
    sampler = DistributedSampler(train_set, world, rank)
    train = DataLoader(train_set, args.batch_size, sampler=sampler, collate_fn=collate)
    val = DataLoader(val_set, 50, sampler=DistributedSampler(val_set, world, rank, shuffle=False), collate_fn=collate)
    model = DDP(TinyLM(16))
    module = model.module
    opt = torch.optim.AdamW(module.parameters(), lr=args.lr)
    steps = -(-len(train) // args.accumulation_steps) * args.epochs
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = count = 0.0
        for window in windows(train, args.accumulation_steps):
            opt.zero_grad()
            tokens = 0
            for ids, labels in window:
                loss = sum_loss(module(ids), labels)
                loss.backward()
                tokens += int((labels != -100).sum())
                total += loss.item()
            count += average_gradients(module, tokens) / world
            torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            opt.step()
            sched.step()
        score = evaluate(module, val)
        if rank == 0:
            print(f"epoch {epoch} loss {total / count:.4f} val {score:.4f}", flush=True)
    if rank == 0:
        torch.save(module.state_dict(), "sft.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
