import torch
from torch import nn
from torch.utils.data import Dataset


class Grammar(Dataset):
    """Sequences of a random walk over symbols; each rank holds a part of the corpus."""

    def __init__(self, rank, world, n=1536, length=16, vocab=20):
        g = torch.Generator().manual_seed(0)
        jump = torch.randint(0, vocab, (vocab, 2), generator=g)
        rows = [torch.randint(0, vocab, (n,), generator=g)]
        for _ in range(length):
            rows.append(jump[rows[-1], torch.randint(0, 2, (n,), generator=g)])
        self.rows = torch.stack(rows, 1)[rank::world]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i, :-1], self.rows[i, 1:]


class CharModel(nn.Module):
    def __init__(self, vocab=20, dim=32):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])
