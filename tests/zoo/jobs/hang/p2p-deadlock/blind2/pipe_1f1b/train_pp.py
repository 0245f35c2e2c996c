import argparse

import torch
import torch.distributed as dist
from torch import nn

from pipelining import PipelineStage, Schedule1F1B

DIM = 64


def build_stage(index, num_stages):
    torch.manual_seed(100 + index)
    layers = [nn.Linear(DIM, DIM), nn.Tanh(), nn.Linear(DIM, DIM)]
    if index == num_stages - 1:
        layers.append(nn.Linear(DIM, 1))
    return nn.Sequential(*layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--microbatches", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    stage_module = build_stage(rank, world)
    stage = PipelineStage(stage_module, rank, world, (args.batch // args.microbatches, DIM))
    schedule = Schedule1F1B(stage, args.microbatches, nn.functional.mse_loss)
    optimizer = torch.optim.AdamW(stage_module.parameters(), lr=1e-3)
    g = torch.Generator().manual_seed(5)
    print(f"stage {rank} of {world}: {sum(p.numel() for p in stage_module.parameters())} parameters", flush=True)
    for step in range(args.steps):
        x = torch.randn(args.batch, DIM, generator=g)
        y = x[:, :1] * x[:, 1:2]
        optimizer.zero_grad()
        loss = schedule.step(x, y)
        optimizer.step()
        if loss is not None and step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
