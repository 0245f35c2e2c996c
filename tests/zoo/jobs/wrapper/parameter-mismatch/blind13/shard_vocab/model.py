from torch import nn


class Bow(nn.Module):
    def __init__(self, vocab_size, dim=64):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(dim, dim), nn.ReLU())
        self.emb = nn.EmbeddingBag(vocab_size, dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, ids):
        return self.out(self.hidden(self.emb(ids)))
