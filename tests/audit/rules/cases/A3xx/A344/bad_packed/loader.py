from types import SimpleNamespace

import torch
from torch_geometric.data import Data


class Collator:
    def __init__(self, x, y, sampler):
        self.x, self.y, self.sampler = x, y, sampler

    def __call__(self, seeds):
        seeds = torch.tensor(seeds)
        seen = [seeds]
        for _ in range(2):
            seen.append(self.sampler(seen[-1]))
        n_id = torch.cat(seen).unique()
        return SimpleNamespace(x=self.x[n_id], y=self.y[n_id], batch_size=len(seeds))


class DataCollator(Collator):
    def __call__(self, seeds):
        ids = torch.unique(torch.cat([seeds, self.sampler(seeds)]), sorted=True)
        data = Data()
        data.x = self.x[ids]
        data.y = self.y[ids]
        data.num_seeds = seeds.numel()
        return data


def as_dict(seeds, sampled, x):
    ids = torch.cat((sampled, seeds)).unique()
    return {"rows": x[ids], "count": seeds.shape[0]}
