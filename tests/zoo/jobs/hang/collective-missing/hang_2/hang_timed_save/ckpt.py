import os
import random
import time

import torch
import torch.distributed as dist


class Checkpointer:
    """Saves when `every` has gone by since the last time: the random states of all ranks go into one file."""

    def __init__(self, folder, every):
        self.folder, self.every = folder, every.total_seconds()
        self.last = time.monotonic()

    def due(self):
        return time.monotonic() - self.last >= self.every

    def maybe_save(self, net, opt, step):
        if not self.due():
            return
        self.save(net, opt, step)
        self.last += self.every

    def save(self, net, opt, step):
        states = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
        dist.gather_object({"torch": torch.get_rng_state(), "python": random.getstate()}, states, dst=0)
        if states is not None:
            os.makedirs(self.folder, exist_ok=True)
            torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "rng": states, "step": step}, f"{self.folder}/{step}.pt")
        dist.barrier()
