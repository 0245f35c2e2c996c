import torch
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, vocab, dim, layers):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        block = nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.pooler = nn.Linear(dim, 5)

    def forward(self, ids):
        return self.pooler(self.encoder(self.embed(ids)).mean(1))


def topic_documents(n, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 5, (n,), generator=g)
    ids = torch.randint(0, 50, (n, 12), generator=g)
    hint = torch.rand(n, 12, generator=g) < 0.35
    return torch.where(hint, labels.unsqueeze(1) * 10 + ids % 10, ids), labels
