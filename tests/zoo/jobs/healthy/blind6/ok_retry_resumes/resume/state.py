import os

import torch
import torch.distributed as dist


class RunState:
    def __init__(self):
        self.path = os.environ["STATE"]

    def load(self, model, optimizer):
        if not os.path.exists(self.path):
            return 0
        state = torch.load(self.path, weights_only=True)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["step"]

    def save(self, model, optimizer, step):
        if dist.get_rank() == 0:
            torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step},
                       self.path + ".new")
            os.replace(self.path + ".new", self.path)
        dist.barrier()
