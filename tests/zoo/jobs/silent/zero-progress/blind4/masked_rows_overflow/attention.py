"""Sentence model with padding and a sliding window."""
import math

import torch
from torch import nn


def window_mask(length, reach):
    """Each position sees itself and the ones just before it."""
    distance = torch.arange(length)[:, None] - torch.arange(length)[None]
    return (distance < 0) | (distance > reach)


class WindowAttention(nn.Module):
    def __init__(self, width, reach=2):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.reach = reach

    def forward(self, x, padding):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / math.sqrt(x.shape[-1])
        hidden = window_mask(x.shape[1], self.reach)[None] | padding[:, None, :]
        weights = scores.masked_fill(hidden, -math.inf).softmax(dim=-1)
        return weights @ v


class Tagger(nn.Module):
    def __init__(self, words=30, width=16, tags=4):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.attention = WindowAttention(width)
        self.out = nn.Linear(width, tags)

    def forward(self, tokens, padding):
        return self.out(self.attention(self.embed(tokens), padding))
