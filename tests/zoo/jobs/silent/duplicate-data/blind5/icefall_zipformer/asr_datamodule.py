import torch
from torch.utils.data import DataLoader, Dataset

from sampling import CutSampler


class CutSet:
    def __init__(self, num_cuts=180):
        g = torch.Generator().manual_seed(8)
        self.durations = (1.0 + 3.0 * torch.rand(num_cuts, generator=g)).tolist()
        self.phones = torch.randint(0, 10, (num_cuts,), generator=g)
        bank = torch.randn(10, 12, generator=g)
        self.feats = [bank[p] + 0.8 * torch.randn(max(4, int(d * 5)), 12, generator=g)
                      for p, d in zip(self.phones, self.durations)]


class K2SpeechRecognitionDataset(Dataset):
    def __init__(self, cuts):
        self.cuts = cuts

    def __getitem__(self, ids):
        feats = torch.nn.utils.rnn.pad_sequence([self.cuts.feats[i] for i in ids], batch_first=True)
        lens = torch.tensor([len(self.cuts.feats[i]) for i in ids])
        return feats, lens, self.cuts.phones[torch.tensor(ids)]


class AsrDataModule:
    def __init__(self, max_duration=20.0):
        self.max_duration = max_duration
        self.cuts = CutSet()

    def train_dataloaders(self):
        self.train_sampler = CutSampler(self.cuts.durations, self.max_duration)
        return DataLoader(K2SpeechRecognitionDataset(self.cuts), sampler=self.train_sampler, batch_size=None)
