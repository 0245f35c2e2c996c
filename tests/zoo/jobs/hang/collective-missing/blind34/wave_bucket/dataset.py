import torch
from torch.utils.data import Dataset

MELS = 20


class Utterances(Dataset):
    def __init__(self, n=160, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.lengths = torch.randint(20, 120, (n,), generator=g).tolist()
        self.labels = torch.randint(0, 6, (n,), generator=g)
        self.seed = seed

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        feats = torch.randn(self.lengths[i], MELS, generator=g)
        feats[:, int(self.labels[i])] += 1.5
        return feats, self.labels[i]


def pad_collate(batch):
    feats, labels = zip(*batch)
    return torch.nn.utils.rnn.pad_sequence(feats, batch_first=True), torch.stack(labels)
