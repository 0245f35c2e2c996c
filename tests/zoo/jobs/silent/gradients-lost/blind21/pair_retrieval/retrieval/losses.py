import torch
import torch.nn as nn
import torch.nn.functional as F

from retrieval.distributed import gather_rows, world


class InfoNCE(nn.Module):
    """Queries of this rank against the documents of all ranks."""

    def __init__(self, temperature=0.05):
        super().__init__()
        self.temperature = temperature

    def forward(self, queries, documents):
        queries = F.normalize(queries, dim=-1)
        documents = gather_rows(F.normalize(documents, dim=-1))
        logits = queries @ documents.t() / self.temperature
        rank, _ = world()
        targets = torch.arange(len(queries)) + rank * len(queries)
        return F.cross_entropy(logits, targets)
