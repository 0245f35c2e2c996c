from pathlib import Path

import torch
import torch.distributed as dist


def save(out, step, model, optim):
    out, rank = Path(out), dist.get_rank()
    if rank == 0:
        torch.save({"step": step, "model": model.state_dict()}, out / "model.pt")
    torch.save(optim.buffers, out / f"momentum_rank{rank}.pt")


def load(out, model, optim):
    out, rank = Path(out), dist.get_rank()
    blob = torch.load(out / "model.pt")
    model.load_state_dict(blob["model"])
    shard = torch.load(out / f"momentum_rank{rank}.pt")
    for index, buffer in optim.buffers.items():
        if index in shard:
            buffer.copy_(shard[index])
    return blob["step"]
