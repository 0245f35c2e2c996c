import torch.nn as nn


class GRULM(nn.Module):
    def __init__(self, vocab, dim=64, layers=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, layers, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.norm(self.rnn(self.emb(ids))[0]))
