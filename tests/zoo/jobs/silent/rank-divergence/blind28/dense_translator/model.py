import torch
import torch.nn.functional as F
from torch import nn


class Feed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.depth = width // heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.feed = Feed(width)

    def attend(self, x):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, -1, self.depth).transpose(1, 2) for p in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(b, t, -1))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))


class Translator(nn.Module):
    """Encoder that writes a target token at each place: enough for word-by-word glosses."""

    def __init__(self, vocabulary=64, width=32, layers=2, heads=4, length=12):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.place = nn.Parameter(torch.randn(length, width) * 0.02)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = self.embed(ids) + self.place
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))
