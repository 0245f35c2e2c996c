import logging
import os
import time

import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

logger = logging.getLogger(__name__)


class CheckpointManager:
    """Writes one consolidated file every `interval` steps and keeps the newest ones."""

    def __init__(self, folder, interval, keep, rank):
        self.folder, self.interval, self.keep, self.rank = folder, interval, keep, rank
        self.written = []

    def should_save(self, step, last):
        return self.interval > 0 and (step % self.interval == 0 or last)

    def save(self, model, step):
        start = time.perf_counter()
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        state = get_model_state_dict(model, options=options)
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, f"step_{step:06d}.pt")
        torch.save({"model": state, "step": step}, path)
        self.written.append(path)
        while len(self.written) > self.keep:
            os.remove(self.written.pop(0))
        logger.info("saved %s in %.2fs", path, time.perf_counter() - start)

    def maybe_save(self, model, step, last=False):
        if self.rank == 0 and self.should_save(step, last):
            self.save(model, step)
