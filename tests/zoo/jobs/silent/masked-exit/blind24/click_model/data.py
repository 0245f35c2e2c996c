import torch
from torch.utils.data import IterableDataset


class ClickLog(IterableDataset):
    """Hours of a click log; each has its own set of placements."""

    def __init__(self, rank, hours=8, rows=960, placements=40):
        self.rank, self.hours, self.rows, self.placements = rank, hours, rows, placements

    def __iter__(self):
        for hour in range(self.hours):
            g = torch.Generator().manual_seed(97 * hour + self.rank)
            open_placements = self.placements + max(0, hour - 4)
            where = torch.randint(0, open_placements, (self.rows,), generator=g)
            dense = torch.randn(self.rows, 6, generator=g)
            click = ((dense.sum(1) + where / 20) > 1).float()
            yield from zip(where, dense, click)
