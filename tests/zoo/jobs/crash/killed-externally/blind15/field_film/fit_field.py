import argparse
import logging
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from beat import Beat
from render import render


class Field(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x)


def truth(x):
    return (torch.sin(3 * x[:, :1] + 6 * x[:, 2:]) * torch.cos(2 * x[:, 1:2]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=600)
    p.add_argument("--film-at", type=int, default=300)
    p.add_argument("--frames", type=int, default=90)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    torch.set_num_threads(1)
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    torch.manual_seed(0)
    model, beat = DistributedDataParallel(Field()), Beat()
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    g = torch.Generator().manual_seed(rank)
    for step in range(1, a.steps + 1):
        beat()
        x = torch.rand(256, 3, generator=g) * 2 - 1
        loss = nn.functional.mse_loss(model(x), truth(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            logging.info("step %d loss %.4f", step, loss.item())
        if step == a.film_at:
            if rank == last:
                torch.save(render(model.module, a.frames), "film.pt")
            waiting = dist.barrier(async_op=True)
            while not waiting.is_completed():
                beat()
                time.sleep(0.2)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
