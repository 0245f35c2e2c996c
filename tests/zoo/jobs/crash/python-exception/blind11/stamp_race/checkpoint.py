import os
import time

import torch
import torch.distributed as dist


class CheckpointManager:
    def __init__(self, folder):
        self.folder = folder

    def path(self, step):
        return os.path.join(self.folder, f"step-{step:06d}", "train_state.pt")

    def save(self, step, model, optimizer):
        if dist.get_rank() != 0:
            return
        target = self.path(step)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        temporary = target + ".part"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, temporary)
        self.verify(temporary)
        os.replace(temporary, target)

    def verify(self, name):
        size = -1
        while size != os.path.getsize(name):
            size = os.path.getsize(name)
            time.sleep(2)

    def load(self, step, model, optimizer):
        state = torch.load(self.path(step), weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["step"]
