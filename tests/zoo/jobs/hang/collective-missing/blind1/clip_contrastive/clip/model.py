import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class CLIP(nn.Module):
    def __init__(self, vocab=40, width=16):
        super().__init__()
        self.visual = nn.Linear(24, width)
        self.text = nn.Embedding(vocab, width)
        self.logit_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, images, ids):
        return F.normalize(self.visual(images), dim=-1), F.normalize(self.text(ids).mean(1), dim=-1)


def gather_features(features):
    parts = [torch.zeros_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, features.detach())
    parts[dist.get_rank()] = features
    return torch.cat(parts)


def contrastive_loss(image, text, scale):
    logits = scale.exp() * gather_features(image) @ gather_features(text).t()
    target = torch.arange(len(logits))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
