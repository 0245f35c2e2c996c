import torch
from torch.utils.data import IterableDataset


class StationFeed(IterableDataset):
    """Measurements of the weather stations that a process looks after; stations have logs of different length."""

    LOGS = {"alp": 900, "bay": 410, "cay": 1280, "dun": 230, "elm": 640, "fen": 150}

    def __init__(self, stations, epoch=0):
        self.stations, self.epoch = stations, epoch

    def __iter__(self):
        for name in self.stations:
            g = torch.Generator().manual_seed(sum(map(ord, name)) + 1000 * self.epoch)
            x = torch.randn(self.LOGS[name], 12, generator=g)
            y = (0.5 * x[:, 0] - x[:, 1].abs() + x[:, 2] * x[:, 3]) / 2
            yield from zip(x, y)


def mine(rank, world):
    return sorted(StationFeed.LOGS)[rank::world]
