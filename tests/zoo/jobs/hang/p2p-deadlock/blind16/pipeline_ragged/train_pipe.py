import argparse
import math

import torch
import torch.distributed as dist
import torch.nn.functional as F

from stages import Link, make_stage


def batches(n, batch, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    y = (x[:, :4].argmax(1))
    for i in range(0, n, batch):
        yield x[i:i + batch], y[i:i + batch]


class Schedule:
    def __init__(self, args):
        self.args = args

    def front(self, stage, link, opt, x):
        outs = []
        for mb in x.split(self.args.micro):
            h = stage(mb)
            outs.append(h)
            link.push(h)
        opt.zero_grad()
        for h in outs:
            h.backward(link.pull())
        opt.step()

    def back(self, stage, link, opt, y):
        held = []
        for _ in range(self.args.batch // self.args.micro):
            h = link.pull().requires_grad_()
            held.append(h)
        opt.zero_grad()
        total = 0.0
        for h, t in zip(held, y.split(self.args.micro)):
            loss = F.cross_entropy(stage(h), t)
            loss.backward()
            link.push(h.grad)
            total += loss.item()
        opt.step()
        return total / len(held)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--samples", type=int, default=1000)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--micro", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    stage = make_stage(rank)
    opt = torch.optim.SGD(stage.parameters(), lr=0.05)
    link, sched = Link(1 - rank), Schedule(args)
    steps = math.ceil(args.samples / args.batch)
    for epoch in range(args.epochs):
        for k, (x, y) in enumerate(batches(args.samples, args.batch, seed=1)):
            if rank == 0:
                sched.front(stage, link, opt, x)
            else:
                loss = sched.back(stage, link, opt, y)
                if k % 5 == 0:
                    print(f"epoch {epoch} step {k}/{steps} loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
