import torch
import torch.distributed as dist
from torch import nn

from backend import LocalBackend

PROMPTS_PER_STEP = 3
STEPS = 4


def build_policy():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2), nn.LogSoftmax(dim=-1))


def prompts_of(step, rank, world):
    start = step * PROMPTS_PER_STEP * world
    return [start + rank + world * i for i in range(PROMPTS_PER_STEP)]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    backend = LocalBackend(build_policy(), rank)
    for step in range(STEPS):
        loss = backend.train(step, prompts_of(step, rank, world))
        dist.all_reduce(loss)
        if rank == 0:
            print(f"step {step} loss {loss / world:+.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
