import argparse
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import critic, generator


def real_batch(n):
    return torch.sin(torch.rand(n, 1) * 6 + torch.linspace(0, 3, 16))


def train_step(g, d, opt_g, opt_d, n=8):
    fake = g(torch.randn(n, 8))
    loss_d = d(fake.detach()).mean() - d(real_batch(n)).mean()
    loss_g = -d(fake).mean()

    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    return loss_g.item(), loss_d.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    g, d = DDP(generator()), DDP(critic())
    opt_g = torch.optim.RMSprop(g.parameters(), lr=1e-3)
    opt_d = torch.optim.RMSprop(d.parameters(), lr=1e-3)
    for step in range(args.steps):
        losses = train_step(g, d, opt_g, opt_d)
        if dist.get_rank() == 0:
            print(step, *losses)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
