import gzip
import itertools
import os
from pathlib import Path

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class LogLineStream(IterableDataset):
    """Byte windows out of gzip shards, divided over the job."""

    def __init__(self, folder, window=256):
        self.shards = sorted(Path(folder).glob("*.gz"))
        self.window = window
        self.rank = int(os.environ.get("RANK", 0))
        self.world = int(os.environ.get("WORLD_SIZE", 1))

    def _mine(self):
        return itertools.islice(self.shards, self.rank, None, self.world)  # cause

    def __iter__(self):  # cause
        for shard in self._mine():  # cause
            with gzip.open(shard, "rb") as fh:
                while True:
                    chunk = fh.read(self.window + 1)
                    if len(chunk) < self.window + 1:
                        break
                    ids = torch.frombuffer(bytearray(chunk), dtype=torch.uint8).long()
                    yield ids[:-1], ids[1:]


def make_loader(folder, batch, workers=6):
    stream = LogLineStream(folder)
    return DataLoader(stream, batch_size=batch, num_workers=workers, pin_memory=True, drop_last=True)  # cause
