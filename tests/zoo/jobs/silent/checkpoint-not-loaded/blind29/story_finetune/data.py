import itertools

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class PackedStories(Dataset):
    """Fixed-length windows over one long stream of tokens with local structure."""

    def __init__(self, vocab=48, block=32, n_blocks=1920, seed=11):
        g = torch.Generator().manual_seed(seed)
        table = torch.randint(0, vocab, (vocab, 3), generator=g)
        pick = torch.randint(0, 3, (n_blocks * block + 1,), generator=g)
        stream = torch.empty(n_blocks * block + 1, dtype=torch.long)
        token = 0
        for i in range(len(stream)):
            stream[i] = token
            token = int(table[token, pick[i]])
        self.stream, self.block, self.n_blocks = stream, block, n_blocks

    def __len__(self):
        return self.n_blocks

    def __getitem__(self, i):
        chunk = self.stream[i * self.block:(i + 1) * self.block + 1]
        return {"input_ids": chunk[:-1], "labels": chunk[1:]}


def build_loaders(cfg, rank, world):
    full = PackedStories(vocab=cfg.vocab, block=cfg.block)
    cut = int(0.95 * len(full))
    train = torch.utils.data.Subset(full, range(cut))
    held = torch.utils.data.Subset(full, range(cut, len(full)))
    sampler = DistributedSampler(train, num_replicas=world, rank=rank, shuffle=True, seed=cfg.seed)
    train_loader = DataLoader(train, batch_size=cfg.batch_size, sampler=sampler, drop_last=True)
    return train_loader, DataLoader(held, batch_size=32)


class SkippedLoader:
    """A view on a loader without its first `n` batches."""

    def __init__(self, loader, n):
        self.loader, self.n = loader, n

    def __iter__(self):
        return itertools.islice(iter(self.loader), self.n, None)

    def __len__(self):
        return max(0, len(self.loader) - self.n)


def skip_first_batches(loader, n):
    return SkippedLoader(loader, n)
