import os

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.filesystem import FileSystemWriter


class Saver:
    """Snapshots in the background, so that the steps do not wait for the disk."""

    def __init__(self, root, process_group):
        self.root, self.group, self.last = root, process_group, None

    def save(self, step, **parts):
        self.last = os.path.join(self.root, f"step_{step:06d}")
        writer = FileSystemWriter(self.last, single_file_per_rank=True)
        dcp.async_save(dict(parts, step=step), storage_writer=writer, process_group=self.group)
        return self.last
