import json
import random

import torch
from torch.utils.data import IterableDataset


class BadRecord(ValueError):
    pass


def synth_lines(shard, count, items):
    rnd = random.Random(shard)
    for k in range(count):
        hist = [rnd.randrange(items) for _ in range(6)]
        item = rnd.randrange(items)
        rec = {"hist": hist, "item": item, "label": int(abs(sum(hist) / 6 - item) < items * 0.2)}
        line = json.dumps(rec)
        yield line[:-3] if k % 97 == 41 else line


def decode(line):
    try:
        r = json.loads(line)
        return torch.tensor(r["hist"]), torch.tensor(r["item"]), torch.tensor(float(r["label"]))
    except (json.JSONDecodeError, KeyError) as e:
        raise BadRecord(str(e)) from e


class Interactions(IterableDataset):
    """Endless over the rank's shards; broken lines are counted and left out."""

    def __init__(self, rank, world, items, shards=8, per_shard=900):
        self.mine = list(range(shards))[rank::world]
        self.items, self.per_shard = items, per_shard
        self.dropped = 0

    def __iter__(self):
        epoch = 0
        while True:
            order = random.Random(epoch).sample(self.mine, len(self.mine))
            for shard in order:
                for line in synth_lines(shard, self.per_shard, self.items):
                    try:
                        yield decode(line)
                    except BadRecord:
                        self.dropped += 1
            epoch += 1


def heldout(items, n=600):
    rows = [decode(s) for s in synth_lines(1000, n, items) if s.endswith("}")]
    return tuple(torch.stack(c) for c in zip(*rows))
