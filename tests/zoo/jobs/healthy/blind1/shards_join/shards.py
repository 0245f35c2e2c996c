import torch
from torch.utils.data import DataLoader, IterableDataset


class ShardedText(IterableDataset):
    """Shards of unlike length; a rank reads every world-th shard."""

    SIZES = [40, 130, 75, 210, 20, 90]

    def __init__(self, rank, world):
        self.mine = self.SIZES[rank::world]

    def __iter__(self):
        for size in self.mine:
            for _ in range(size):
                x = torch.randn(10)
                yield x, x[:2].sum(0, keepdim=True)


def loader(rank, world):
    return DataLoader(ShardedText(rank, world), batch_size=8)
