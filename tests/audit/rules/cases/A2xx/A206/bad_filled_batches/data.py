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


class Chosen(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        for row in self.rows:
            words = len(row["text"].split())
            if words > 3:
                yield row


def filled(cuts, rank, world):
    return DataLoader(Filled(cuts[rank::world], 4000), batch_size=None, num_workers=2)


def chosen(rows, rank, world):
    return DataLoader(Chosen(rows[rank::world]), batch_size=8)
