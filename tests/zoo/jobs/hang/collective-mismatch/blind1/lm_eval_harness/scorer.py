import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, vocab=50, dim=16):
        super().__init__()
        self.table = nn.Embedding(vocab, dim)
        self.out = nn.Linear(dim, 2)

    @torch.no_grad()
    def score(self, tokens):
        return self.out(self.table(torch.tensor(tokens)).mean(0)).softmax(-1)


def metrics_for(doc, probs):
    if doc["kind"] == "presence":
        return {"f1": torch.stack([probs[0], probs[1]])}
    return {"mae": (probs[0] - 0.5).abs(), "f1": torch.stack([probs[0], probs[1]])}
