import json
import logging
import os

import torch

log = logging.getLogger("plm.checkpoint")


def save_checkpoint(directory, step, model_state, optimizer_state, meta, rank):
    """Model and metadata come from rank 0; every rank keeps the part of the optimizer that it owns."""
    if rank == 0:
        os.makedirs(directory, exist_ok=True)
        torch.save(model_state, os.path.join(directory, f"model_{step:06d}.pt"))
        with open(os.path.join(directory, f"meta_{step:06d}.json"), "w") as f:
            json.dump(meta, f, indent=2)
        log.info("saved model of step %d to %s", step, directory)
    path = os.path.join(directory, f"optim_{step:06d}_rank{rank}.pt")
    torch.save(optimizer_state, path)
    log.info("saved optimizer shard %s", path)


def load_checkpoint(directory, step, rank):
    model = torch.load(os.path.join(directory, f"model_{step:06d}.pt"))
    optim = torch.load(os.path.join(directory, f"optim_{step:06d}_rank{rank}.pt"))
    with open(os.path.join(directory, f"meta_{step:06d}.json")) as f:
        return model, optim, json.load(f)
