import random

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

MELS = 20


class FbankDataset(Dataset):

    def __init__(self, n, frames=30):
        self.n, self.frames = n, frames

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        label = i % 8
        jitter = random.gauss(0.0, 0.1)
        return torch.randn(self.frames, MELS) + label / 8 + jitter, label


class LibriSpeechAsrDataModule:

    def __init__(self, params):
        self.params = params

    def train_dataloaders(self):
        train = FbankDataset(self.params.num_train)
        sampler = DistributedSampler(train, shuffle=True)
        seed = random.randint(0, 100_000)

        def worker_init_fn(worker_id):
            random.seed(seed + worker_id)
            torch.manual_seed(seed + worker_id)

        return DataLoader(
            train,
            batch_size=self.params.batch_size,
            sampler=sampler,
            num_workers=self.params.num_workers,
            persistent_workers=False,
            worker_init_fn=worker_init_fn,
        )

    def valid_dataloaders(self):
        return DataLoader(FbankDataset(64), batch_size=self.params.batch_size)
