import glob

import torch
import torch.distributed as dist


def resume(folder):
    files = glob.glob(f"{folder}/*.pt")
    newest = next(one for one in files if one.endswith("last.pt"))
    return torch.load(newest, map_location="cpu", weights_only=True)["step"]


def train(model, batches):
    step = resume("checkpoints")
    for batch in batches:
        model(batch)
        step += 1
        if step % 100 == 0:
            dist.barrier()
