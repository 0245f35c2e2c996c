import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Reviews(Dataset):
    def __init__(self, n=1920, vocab=80, seed=12):
        g = torch.Generator().manual_seed(seed)
        self.lengths = torch.randint(4, 40, (n,), generator=g).tolist()
        self.tokens = [torch.randint(1, vocab, (k,), generator=g) for k in self.lengths]
        self.stars = torch.tensor([float((t < 30).float().mean() > (t > 50).float().mean()) for t in self.tokens])

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i], self.stars[i]


def collate(rows):
    return pad_sequence([t for t, _ in rows], True), torch.stack([s for _, s in rows])


class Pooled(nn.Module):
    def __init__(self, vocab=80, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.rnn(self.embed(x))[0] * (x > 0).unsqueeze(-1)
        return self.out(h.sum(1) / (x > 0).sum(1, keepdim=True)).squeeze(1)
