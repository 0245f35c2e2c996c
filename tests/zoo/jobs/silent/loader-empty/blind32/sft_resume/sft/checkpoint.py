import glob
import logging
import os

import torch
import torch.distributed as dist

log = logging.getLogger("sft.checkpoint")


class CheckpointHandler:
    def __init__(self, root):
        self.root = root

    def save(self, step, model, optimizer, scheduler, sampler):
        if dist.get_rank() == 0:
            os.makedirs(self.root, exist_ok=True)
            torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                        "scheduler": scheduler.state_dict(), "sampler": sampler.state_dict()},
                       os.path.join(self.root, f"step_{step:06d}.pt"))
            log.info("saved step %d", step)
        dist.barrier()

    def load(self, model, optimizer, scheduler, sampler):
        found = sorted(glob.glob(os.path.join(self.root, "step_*.pt")))
        if not found:
            return 0
        state = torch.load(found[-1])
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        sampler.load_state_dict(state["sampler"])
        if dist.get_rank() == 0:
            log.info("resumed %s", found[-1])
        return state["step"]
