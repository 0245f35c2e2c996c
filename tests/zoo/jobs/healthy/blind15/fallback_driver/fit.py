import argparse
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Budget:
    def __init__(self, mib):
        self.bytes = mib << 20

    def check(self, micro, width, depth):
        need = 4 * micro * width * (2 * depth + 1)
        if need > self.bytes:
            raise MemoryError(f"activations of {need >> 10} KiB are more than the budget of {self.bytes >> 10} KiB")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--micro", type=int, required=True)
    p.add_argument("--budget", type=int, default=1)
    p.add_argument("--steps", type=int, default=400)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    width, depth = 256, 3
    try:
        Budget(a.budget).check(a.micro, width, depth)
    except MemoryError as e:
        print(f"[{rank}] {e}", file=sys.stderr, flush=True)
        dist.destroy_process_group()
        sys.exit(75)
    torch.manual_seed(0)
    layers = [nn.Linear(16, width), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.ReLU()]
    model = DistributedDataParallel(nn.Sequential(*layers, nn.Linear(width, 1)))
    opt = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9)
    g = torch.Generator().manual_seed(rank)
    for step in range(a.steps):
        x = torch.randn(a.micro, 16, generator=g)
        loss = nn.functional.mse_loss(model(x), x[:, :4].prod(1, keepdim=True).tanh())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"[{rank}] loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
