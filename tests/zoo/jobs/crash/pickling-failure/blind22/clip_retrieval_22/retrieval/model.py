import torch
import torch.nn.functional as F
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, image_dim, vocab_size, width=32):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(image_dim, 64), nn.GELU(), nn.Linear(64, width))
        self.embed = nn.EmbeddingBag(vocab_size, width)
        self.text = nn.Linear(width, width)

    def forward(self, image, tokens):
        return F.normalize(self.image(image), dim=-1), F.normalize(self.text(self.embed(tokens)), dim=-1)


def info_nce(a, b, temperature=0.07):
    logits = a @ b.t() / temperature
    target = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
