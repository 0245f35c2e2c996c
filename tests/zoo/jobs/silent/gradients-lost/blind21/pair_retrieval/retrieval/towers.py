import torch.nn as nn


class Tower(nn.Module):
    def __init__(self, vocab, width, out):
        super().__init__()
        self.words = nn.EmbeddingBag(vocab, width, mode="mean")
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, out))

    def forward(self, tokens):
        return self.mlp(self.words(tokens))


class TwoTowers(nn.Module):
    def __init__(self, vocab=400, width=96, out=64):
        super().__init__()
        self.query = Tower(vocab, width, out)
        self.document = Tower(vocab, width, out)

    def forward(self, queries, documents):
        return self.query(queries), self.document(documents)
