import torch
import torch.distributed as dist
from torch import nn


def gather_embeddings(embeddings):
    """The embeddings of all ranks, stacked, for a larger pool of negatives."""
    pool = [torch.zeros_like(embeddings) for _ in range(dist.get_world_size())]
    dist.all_gather(pool, embeddings.contiguous())
    return torch.cat(pool)


class CrossBatchInfoNCE(nn.Module):
    def __init__(self, init_temperature=0.07):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.tensor(1 / init_temperature).log())

    def forward(self, images, texts):
        images, texts = gather_embeddings(images), gather_embeddings(texts)
        logits = self.logit_scale.exp().clamp(max=100) * images @ texts.T
        target = torch.arange(len(logits))
        return (nn.functional.cross_entropy(logits, target) + nn.functional.cross_entropy(logits.T, target)) / 2
