from torch.utils.data import DataLoader, IterableDataset


class Filled(IterableDataset):
    def __init__(self, cuts, most):
        self.cuts, self.most = cuts, most

    def __iter__(self):
        batch, frames = [], 0
        for cut in self.cuts:
            if batch and frames + cut["frames"] > self.most:
                yield batch
                batch, frames = [], 0
            batch.append(cut)
            frames += cut["frames"]


class Dealt(IterableDataset):
    def __init__(self, cuts, most, rank, world):
        self.cuts, self.most, self.rank, self.world = cuts, most, rank, world

    def __iter__(self):
        batches = list(Filled(self.cuts, self.most))
        whole = len(batches) // self.world * self.world
        yield from batches[: whole : self.world]


def filled(cuts, rank, world):
    return DataLoader(Filled(cuts[rank::world], 4000), batch_size=None)


def dealt(cuts, rank, world):
    return DataLoader(Dealt(cuts, 4000, rank, world), batch_size=None)
