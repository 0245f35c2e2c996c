import os

import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import DefaultLoadPlanner


class CheckpointManager:
    def __init__(self, folder, model, optimizer, scheduler):
        self.folder = folder
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler

    def path(self, step):
        return os.path.join(self.folder, f"step_{step}")

    def latest(self):
        if not os.path.isdir(self.folder):
            return None
        steps = [int(d.split("_")[1]) for d in os.listdir(self.folder) if d.startswith("step_")]
        return max(steps, default=None)

    def _state(self):
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def save(self, step):
        state = self._state()
        state["scheduler"] = self.scheduler.state_dict()
        state["train"] = {"step": step}
        dcp.save(state, checkpoint_id=self.path(step))
        dist.barrier()

    def load(self, step, skip_optimizer=False):
        state = self._state()
        if skip_optimizer:
            del state["optimizer"]
        state["scheduler"] = self.scheduler.state_dict()
        state["train"] = {"step": 0}
        dcp.load(state, checkpoint_id=self.path(step), planner=DefaultLoadPlanner(allow_partial_load=True))
        self.model.load_state_dict(state["model"])
        if not skip_optimizer:
            self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        return state["train"]["step"]
