import torch
from torch.utils.data import ConcatDataset, TensorDataset


class TaskStream:
    """Classes come in groups; each group is one task."""

    def __init__(self, groups, dim=32, per_class=120, seed=4):
        g = torch.Generator().manual_seed(seed)
        total = sum(groups)
        centers = 0.8 * torch.randn(total, dim, generator=g)
        warp = torch.randn(dim, dim, generator=g) / dim ** 0.5
        self.tasks, start = [], 0
        for size in groups:
            labels = torch.arange(start, start + size).repeat_interleave(per_class)
            x = centers[labels] + 1.4 * torch.randn(len(labels), dim, generator=g)
            x = torch.tanh(x @ warp) + 0.1 * x
            order = torch.randperm(len(x), generator=g)
            cut = int(0.8 * len(x))
            self.tasks.append((TensorDataset(x[order[:cut]], labels[order[:cut]]),
                               TensorDataset(x[order[cut:]], labels[order[cut:]])))
            start += size

    def __iter__(self):
        seen = []
        for train, test in self.tasks:
            seen.append(test)
            yield train, ConcatDataset(seen)


class Memory:
    def __init__(self, per_class=20):
        self.per_class, self.store = per_class, {}

    def add(self, dataset):
        x, y = dataset.tensors
        for c in y.unique().tolist():
            self.store[c] = x[y == c][:self.per_class]

    def dataset(self):
        x = torch.cat(list(self.store.values()))
        y = torch.cat([torch.full((len(v),), c) for c, v in self.store.items()])
        return TensorDataset(x, y)
