import argparse
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--steps", type=int, default=3000)
    p.add_argument("--result", required=True)
    a = p.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(12, 64), nn.SiLU(), nn.Linear(64, 1)))
    opt = torch.optim.Adam(model.parameters(), a.lr)
    g = torch.Generator().manual_seed(dist.get_rank())
    for step in range(a.steps):
        x = torch.rand(256, 12, generator=g) * 2 - 1
        y = (x[:, :3].prod(1) + x[:, 3:6].sin().sum(1)).unsqueeze(1)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if dist.get_rank() == 0:
        with open(a.result, "w") as f:
            json.dump({"lr": a.lr, "loss": loss.item()}, f)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
