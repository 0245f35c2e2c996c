import torch
from torch import nn

WORDS = [f"w{i}" for i in range(60)]


class Seq(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.emb = nn.Embedding(len(WORDS), dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, len(WORDS))

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])

    @torch.no_grad()
    def sample(self, count, length=12):
        ids = torch.randint(len(WORDS), (count, length))
        return [" ".join(WORDS[i] for i in row) for row in self(ids).argmax(-1).tolist()]
