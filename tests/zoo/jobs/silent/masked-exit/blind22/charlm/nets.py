import torch
from torch import nn

ACTIVATIONS = {
    "relu": nn.functional.relu,
    "squared": lambda x: nn.functional.relu(x).square(),
}


class CharMLP(nn.Module):
    """Next character from the last `context` ones."""

    def __init__(self, vocab, context=8, width=96, activation="squared"):
        super().__init__()
        self.embed = nn.Embedding(vocab, 12)
        self.up = nn.Linear(12 * context, width)
        self.out = nn.Linear(width, vocab)
        self.activation = ACTIVATIONS[activation]

    def forward(self, ids):
        return self.out(self.activation(self.up(self.embed(ids).flatten(1))))
