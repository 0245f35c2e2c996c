import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from hierarchical import HierarchicalAverage
from topology import discover


def flatten(params):
    return torch.cat([p.detach().reshape(-1) for p in params])


def unflatten(flat, params):
    at = 0
    for p in params:
        p.data.copy_(flat[at : at + p.numel()].view_as(p))
        at += p.numel()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=4000)
    ap.add_argument("--period", type=int, default=16)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    topo = discover(int(os.environ["LOCAL_WORLD_SIZE"]))
    average = HierarchicalAverage(topo)
    torch.manual_seed(11)
    net = nn.Sequential(nn.Linear(32, 256), nn.Tanh(), nn.Linear(256, 1)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    params = list(net.parameters())
    gen = torch.Generator(device="cuda").manual_seed(dist.get_rank())
    for step in range(1, args.steps + 1):
        x = torch.randn(256, 32, device="cuda", generator=gen)
        loss = nn.functional.mse_loss(net(x).squeeze(-1), x.norm(dim=-1))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % args.period == 0:
            unflatten(average(flatten(params)), params)
        if step % 500 == 0 and dist.get_rank() == 0:
            print(step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
