import torch
from torch import nn

from treelm.trees import leaves


class Composer(nn.Module):
    """Folds a right-branching tree from its leaves."""

    def __init__(self, vocab=200, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, tree, limit=64):
        words = torch.tensor(list(leaves(tree))[:limit])
        h, _ = self.cell(self.embed(words)[None])
        return nn.functional.cross_entropy(self.out(h[0, :-1]), words[1:])
