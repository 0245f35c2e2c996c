from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict


class Progress:
    def __init__(self, folder, model, opt):
        self.folder, self.model, self.opt = Path(folder), model, opt
        self.step = 0

    def save(self):
        target = self.folder / f"{self.step:08d}"
        weights, moments = get_state_dict(self.model, self.opt)
        dcp.save({"model": weights, "opt": moments}, checkpoint_id=str(target))
        torch.save({"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state()}, target / f"rng{dist.get_rank()}.pt")
        dist.barrier()
        if dist.get_rank() == 0:
            (self.folder / "latest").write_text(target.name)
        dist.barrier()

    def load(self):
        pointer = self.folder / "latest"
        if not pointer.exists():
            return self
        name = pointer.read_text().strip()
        weights, moments = get_state_dict(self.model, self.opt)
        dcp.load({"model": weights, "opt": moments}, checkpoint_id=str(self.folder / name))
        set_state_dict(self.model, self.opt, model_state_dict=weights, optim_state_dict=moments)
        rng = torch.load(self.folder / name / f"rng{dist.get_rank()}.pt", map_location="cpu", weights_only=True)
        torch.set_rng_state(rng["cpu"])
        torch.cuda.set_rng_state(rng["cuda"])
        self.step = int(name)
        return self
