import copy

import torch.distributed as dist

from .async_writer import AsyncCheckpointWriter


class CheckpointManager:

    def __init__(self, directory, save_interval):
        self.save_interval = save_interval
        self.writer = AsyncCheckpointWriter(directory) if dist.get_rank() == 0 else None
        self.items = {}

    def track(self, **items):
        self.items.update(items)

    def maybe_save(self, step):
        if self.writer is None or step % self.save_interval:
            return
        snapshot = {"step": step}
        for name, item in self.items.items():
            snapshot[name] = copy.deepcopy(item.state_dict())
        self.writer.submit(step, snapshot)

    def close(self):
        if self.writer is not None:
            self.writer.flush(timeout=1.0)
