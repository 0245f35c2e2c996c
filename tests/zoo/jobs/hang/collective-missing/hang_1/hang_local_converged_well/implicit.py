"""A deep-equilibrium style layer: the fixed point is found with a shared step length."""
import argparse
import time

import torch
import torch.distributed as dist

from solver import fixed_point

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=20)


def loss_fn(w, x, y):
    z = fixed_point(lambda z: torch.tanh(z @ w.detach() + x), torch.zeros_like(x))
    return (torch.tanh(z @ w + x) - y).square().mean()


def all_reduce_grad(w):
    dist.all_reduce(w.grad)
    w.grad /= dist.get_world_size()


def main():
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    w = torch.nn.Parameter(0.2 * torch.randn(12, 12))
    opt = torch.optim.SGD([w], lr=0.05)
    for step in range(args.steps):
        g = torch.Generator().manual_seed(step)
        x = torch.randn(32, 12, generator=g)
        if step >= 12:  # inputs of the harder half of the curriculum, the parts of the ranks differ
            x = x * (1 + 7 * rank)
        y = torch.sin(x)
        opt.zero_grad()
        loss = loss_fn(w, x, y)
        loss.backward()
        all_reduce_grad(w)
        opt.step()
        if rank == 0 and step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
