from pathlib import Path

import torch
from torch.utils.data import IterableDataset, get_worker_info


class TextShards(IterableDataset):  # cause
    """Reads the files of its own worker; on every rank these are the same."""

    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("*.txt"))

    def __iter__(self):
        info = get_worker_info()
        files = self.files if info is None else self.files[info.id :: info.num_workers]
        for path in files:
            for line in path.read_text().splitlines():
                yield torch.tensor([float(len(word)) for word in line.split()[:8]])
