import torch
import torch.nn as nn

from criteo import NUM_DENSE, NUM_SPARSE


class DLRM(nn.Module):
    def __init__(self, buckets, dim):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(buckets, dim) for _ in range(NUM_SPARSE))
        self.bottom = nn.Sequential(nn.Linear(NUM_DENSE, 32), nn.ReLU(), nn.Linear(32, dim), nn.ReLU())
        pairs = (NUM_SPARSE + 1) * NUM_SPARSE // 2
        self.top = nn.Sequential(nn.Linear(dim + pairs, 32), nn.ReLU(), nn.Linear(32, 1))
        i, j = torch.tril_indices(NUM_SPARSE + 1, NUM_SPARSE + 1, -1)
        self.register_buffer("i", i, persistent=False)
        self.register_buffer("j", j, persistent=False)

    def forward(self, dense, sparse):
        d = self.bottom(dense)
        e = torch.stack([d] + [t(sparse[:, k]) for k, t in enumerate(self.tables)], 1)
        inter = (e @ e.transpose(1, 2))[:, self.i, self.j]
        return self.top(torch.cat([d, inter], 1)).squeeze(1)
