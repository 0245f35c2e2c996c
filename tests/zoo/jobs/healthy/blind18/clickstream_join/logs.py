import torch
from torch.utils.data import IterableDataset, get_worker_info


class ClickLog(IterableDataset):
    def __init__(self, files, rank, world):
        self.files = files[rank::world]
        self.epoch = 0

    def parse(self, name, rows):
        g = torch.Generator().manual_seed(name + 10000 * self.epoch)
        item = torch.randint(300, (rows, 6), generator=g)
        label = ((item.sum(1) % 7) < 3).float()
        return zip(item, label)

    def __iter__(self):
        info = get_worker_info()
        files = self.files if info is None else self.files[info.id::info.num_workers]
        for name, rows in files:
            yield from self.parse(name, rows)
