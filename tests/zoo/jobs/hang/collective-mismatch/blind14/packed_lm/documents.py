import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Documents(Dataset):
    def __init__(self, count, vocab, seed=0):
        g = torch.Generator().manual_seed(seed)
        lengths = (torch.randn(count, generator=g) * 0.7 + 3.4).exp().clamp(8, 200).int().tolist()
        self.items = []
        for n in lengths:
            start = torch.randint(1, vocab, (1,), generator=g)
            self.items.append((start + torch.arange(n) * 3) % (vocab - 1) + 1)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    return pad_sequence(batch, batch_first=True)
