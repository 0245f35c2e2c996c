import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from shard.model import Net, SplitMLP


def corpus(n=1280, length=20):
    gen = torch.Generator().manual_seed(1)
    start = torch.randint(60, (n, 1), generator=gen)
    return TensorDataset((start + torch.arange(length + 1) * 7) % 60)


def total_norm(model):
    split = {id(p) for m in model.modules() if isinstance(m, SplitMLP) for p in m.parameters()}
    mine = sum(p.grad.square().sum() for p in model.parameters() if id(p) in split)
    dist.all_reduce(mine)
    return (mine + sum(p.grad.square().sum() for p in model.parameters() if id(p) not in split)).sqrt()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=160)
    ap.add_argument("--warmup", type=int, default=20)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    loader = DataLoader(corpus(), 32, shuffle=True, generator=torch.Generator().manual_seed(8))
    model = Net()
    opt = torch.optim.AdamW(model.parameters(), 3e-3)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / args.warmup))
    step = 0
    while step < args.steps:
        for (ids,) in loader:
            logits = model(ids[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            norm = total_norm(model)
            if norm > 1.0:
                for p in model.parameters():
                    p.grad *= 1.0 / norm
            opt.step()
            sched.step()
            step += 1
            if step % 40 == 0:
                logging.info("step %d loss %.4f norm %.2f", step, loss.item(), norm.item())
    torch.save(model.state_dict(), f"part{dist.get_rank()}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
