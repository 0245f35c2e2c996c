import argparse
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import critic, generator


def requires_grad(model, flag):
    for p in model.parameters():
        p.requires_grad_(flag)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--critic-steps", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    g, d = DDP(generator()), DDP(critic())
    opt_g = torch.optim.Adam(g.parameters(), lr=1e-3, betas=(0.5, 0.9))
    opt_d = torch.optim.Adam(d.parameters(), lr=1e-3, betas=(0.5, 0.9))
    for step in range(args.steps):
        for _ in range(args.critic_steps):
            real = torch.sin(torch.rand(8, 1) * 6 + torch.linspace(0, 3, 16))
            with torch.no_grad():
                fake = g(torch.randn(8, 8))
            scores = d(torch.cat([real, fake]))
            loss_d = F.relu(1 - scores[:8]).mean() + F.relu(1 + scores[8:]).mean()
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()
        loss_g = -d.module(g(torch.randn(8, 8))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
    if rank == 0:
        print(f"critic {loss_d.item():.3f} generator {loss_g.item():.3f}")
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
