import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Seeded:
    def __init__(self, seed):
        self.seed = seed
        self.rng = np.random.default_rng(seed)

    def begin(self):
        info = get_worker_info()
        self.rng = np.random.default_rng((self.seed, 0 if info is None else info.id))


class Waves(Seeded, IterableDataset):
    def __iter__(self):
        self.begin()
        while True:
            yield torch.from_numpy(self.rng.standard_normal(64)).float()


for _, batch in zip(range(1000), DataLoader(Waves(7), batch_size=32, num_workers=4)):
    print(batch.mean())
