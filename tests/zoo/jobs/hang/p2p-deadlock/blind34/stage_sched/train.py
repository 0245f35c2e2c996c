import argparse

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F

from comm import StageLink
from schedule import OneForwardOneBackward


def build_stage(stage, num_stages, dim, classes):
    layers = [nn.Linear(dim, dim), nn.GELU(), nn.LayerNorm(dim)]
    if stage == num_stages - 1:
        layers.append(nn.Linear(dim, classes))
    return nn.Sequential(*layers)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=64)
    p.add_argument("--classes", type=int, default=5)
    p.add_argument("--micro-batch", type=int, default=16)
    p.add_argument("--num-microbatches", type=int, default=6)
    p.add_argument("--steps", type=int, default=20)
    args = p.parse_args()

    dist.init_process_group("gloo")
    stage, num_stages = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(100 + stage)
    model = build_stage(stage, num_stages, args.dim, args.classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    link = StageLink(stage, num_stages, (args.micro_batch, args.dim))
    schedule = OneForwardOneBackward(stage, num_stages, link, args.num_microbatches)
    data_gen = torch.Generator().manual_seed(0)
    teacher = torch.randn(args.dim, args.classes, generator=torch.Generator().manual_seed(1))

    for step in range(args.steps):
        n = args.micro_batch * args.num_microbatches
        x = torch.randn(n, args.dim, generator=data_gen)
        y = (x @ teacher).argmax(1).split(args.micro_batch)
        xs = [c.clone().requires_grad_() for c in x.split(args.micro_batch)]

        def forward_step(inp, i):
            out = model(inp)
            if stage == num_stages - 1:
                return out, F.cross_entropy(out, y[i])
            return out, None

        optimizer.zero_grad()
        losses = schedule.step(forward_step, xs)
        optimizer.step()
        if losses and step % 5 == 0:
            print(f"step {step} loss {torch.stack(losses).mean():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
