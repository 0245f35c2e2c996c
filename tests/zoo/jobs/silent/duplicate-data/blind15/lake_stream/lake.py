"""Event shards of a lake, streamed; every reader takes its share of the shards."""
import json
import os

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info


def position():
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def write(folder, shards=12, rows=320, seed=19):
    os.makedirs(folder, exist_ok=True)
    g = torch.Generator().manual_seed(seed)
    for s in range(shards):
        x = torch.randn(rows, 10, generator=g)
        y = (x[:, 0] - x[:, 1] * x[:, 2] + 0.1 * torch.randn(rows, generator=g)).tolist()
        with open(os.path.join(folder, f"events-{s:02d}.json"), "w") as f:
            json.dump({"x": x.tolist(), "y": y}, f)


class EventStream(IterableDataset):
    def __init__(self, folder, seed=0, epoch=0):
        self.folder, self.seed, self.epoch = folder, seed, epoch

    def _shards(self):
        names = sorted(n for n in os.listdir(self.folder) if n.endswith(".json"))
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        names = [names[i] for i in torch.randperm(len(names), generator=g).tolist()]
        rank, world = position()
        info = get_worker_info()
        readers = world * (info.num_workers if info else 1)
        me = rank * (info.num_workers if info else 1) + (info.id if info else 0)
        return names[me::readers]

    def __iter__(self):
        for name in self._shards():
            with open(os.path.join(self.folder, name)) as f:
                part = json.load(f)
            for x, y in zip(part["x"], part["y"]):
                yield torch.tensor(x), torch.tensor(y)
