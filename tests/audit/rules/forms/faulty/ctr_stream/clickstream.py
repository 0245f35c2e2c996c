import json
from pathlib import Path

import torch
from torch.utils.data import IterableDataset, get_worker_info


class ClickStream(IterableDataset):
    def __init__(self, root, rank, world, fields=24, buckets=1 << 20):
        self.files = sorted(Path(root).glob("part-*.jsonl"))[rank::world]  # cause
        self.fields = fields
        self.buckets = buckets

    def parse(self, line):
        row = json.loads(line)
        ids = torch.tensor([v % self.buckets for v in row["features"][: self.fields]])
        return ids, torch.tensor(float(row["click"]))

    def __iter__(self):
        info = get_worker_info()
        files = self.files if info is None else self.files[info.id :: info.num_workers]  # cause
        for path in files:
            with path.open() as fh:
                for line in fh:
                    yield self.parse(line)
