import json
from pathlib import Path

import torch


def read(files):
    for path in files:
        with open(path) as f:
            for line in f:
                yield torch.tensor(json.loads(line)["ids"])


def stack(rows):
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return ids[:, :-1], ids[:, 1:]


class Packer:
    def __init__(self, folder, rank, world, budget=8192):
        self.files = sorted(Path(folder).glob("*.jsonl"))[rank::world]  # cause
        self.budget = budget

    def __iter__(self):
        rows, longest = [], 0
        for ids in read(self.files):
            longest = max(longest, ids.numel())
            if rows and longest * (len(rows) + 1) > self.budget:
                yield stack(rows)
                rows, longest = [], ids.numel()
            rows.append(ids)
        if rows:
            yield stack(rows)
