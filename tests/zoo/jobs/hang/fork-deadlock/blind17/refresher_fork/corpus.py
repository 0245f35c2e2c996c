import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from cachelib import PhraseCache


class Phrases(Dataset):
    def __init__(self, n=480, symbols=40):
        self.n, self.symbols = n, symbols
        self.cache = PhraseCache()

    def warm(self):
        for i in range(self.n):
            self.cache.get(i, self._phonemes)

    def _phonemes(self, key):
        gen = torch.Generator().manual_seed(key)
        return torch.randint(self.symbols, (18,), generator=gen)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        ids = self.cache.get(i, self._phonemes)
        return ids, ids.float().mean()


def make_loader(data, cfg):
    sampler = DistributedSampler(data, shuffle=True)
    return DataLoader(data, cfg.batch, sampler=sampler, num_workers=cfg.workers), sampler
