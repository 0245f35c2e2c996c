from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Checkpointer:
    def __init__(self, path):
        self.path = Path(path)

    def save(self, model, optimizer, scheduler, step):
        if dist.get_rank() == 0:
            self.path.mkdir(parents=True, exist_ok=True)
            raw = model.module if isinstance(model, DistributedDataParallel) else model
            torch.save({"model": raw.state_dict(), "step": step}, self.path / "model.pt")
            torch.save({"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, self.path / "optim.pt")
        dist.barrier()

    def load_model_state_dict(self, model):
        state = torch.load(self.path / "model.pt", map_location="cpu")
        model.load_state_dict(state["model"])
        return state["step"]

    def load_optimizer_state_dict(self, optimizer, scheduler):
        state = torch.load(self.path / "optim.pt", map_location="cpu")
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
