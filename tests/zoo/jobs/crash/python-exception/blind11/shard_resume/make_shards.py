import os

import torch


def write(folder, world, width=64):
    os.makedirs(folder, exist_ok=True)
    for rank in range(world):
        torch.manual_seed(rank)
        state = {"exp_avg": torch.randn(width, width), "exp_avg_sq": torch.rand(width, width), "step": 120}
        torch.save(state, os.path.join(folder, f"optim_rank{rank}.pt"))
