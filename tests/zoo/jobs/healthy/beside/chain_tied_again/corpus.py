import torch
from torch.utils.data import Dataset


class Chain(Dataset):
    """A Markov chain over 200 tokens."""

    def __init__(self, n=2000, length=33, vocab=200):
        g = torch.Generator().manual_seed(11)
        nxt = torch.randint(vocab, (vocab, 4), generator=g)
        ids = torch.zeros(n, length, dtype=torch.long)
        ids[:, 0] = torch.randint(vocab, (n,), generator=g)
        pick = torch.randint(4, (n, length), generator=g)
        for t in range(1, length):
            ids[:, t] = nxt[ids[:, t - 1], pick[:, t]]
        self.ids = ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i]
