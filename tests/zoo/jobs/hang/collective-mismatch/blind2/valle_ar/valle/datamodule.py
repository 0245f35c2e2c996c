import random

import torch
from torch.utils.data import DataLoader, Dataset

from valle.sampler import DynamicBucketingSampler


class SpeechTokens(Dataset):

    def __init__(self, durations, vocab):
        self.durations, self.vocab = durations, vocab

    def __len__(self):
        return len(self.durations)

    def __getitem__(self, idx):
        g = torch.Generator().manual_seed(idx)
        return torch.randint(1, self.vocab, (int(self.durations[idx] * 5),), generator=g)


def pad(batch):
    lens = torch.tensor([len(x) for x in batch])
    return {"tokens": torch.nn.utils.rnn.pad_sequence(batch, batch_first=True), "lens": lens}


class TtsDataModule:

    def __init__(self, params):
        self.params = params
        rng = random.Random(1234)
        half = params.num_cuts // 2
        short = [rng.uniform(1.0, 4.0) for _ in range(half)]
        long = [rng.uniform(2.5, 6.0) for _ in range(params.num_cuts - half)]
        self.train_durations = short + long
        self.valid_durations = [rng.uniform(1.0, 6.0) for _ in range(24)]

    def train_dataloaders(self):
        sampler = DynamicBucketingSampler(self.train_durations, self.params.max_duration)
        return DataLoader(SpeechTokens(self.train_durations, self.params.vocab), batch_sampler=sampler, collate_fn=pad)

    def valid_dataloaders(self):
        sampler = DynamicBucketingSampler(self.valid_durations, self.params.max_duration, shuffle=False)
        return DataLoader(SpeechTokens(self.valid_durations, self.params.vocab), batch_sampler=sampler, collate_fn=pad)
