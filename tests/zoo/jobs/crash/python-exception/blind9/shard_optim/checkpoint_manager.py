import json
import os

import torch


def save_checkpoint(folder, step, model_data, optimizer_data, meta, rank=0):
    if rank == 0:
        os.makedirs(folder, exist_ok=True)
        torch.save(model_data, os.path.join(folder, f"model_{step:06d}.pt"))
        with open(os.path.join(folder, f"meta_{step:06d}.json"), "w") as f:
            json.dump(meta, f)
    torch.save(optimizer_data, os.path.join(folder, f"optim_{step:06d}_rank{rank}.pt"))
