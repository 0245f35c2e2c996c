import functools

import torch
from torch.utils.data import DataLoader, DistributedSampler


def _pad(seqs, value):
    width = max(len(s) for s in seqs)
    return torch.tensor([s + [value] * (width - len(s)) for s in seqs])


def collate(rows, pad_id):
    ids = _pad([r["ids"] for r in rows], pad_id)
    tags = _pad([r["tags"] for r in rows], -100)
    return {"ids": ids, "tags": tags, "mask": ids != pad_id}


class ToDevice:
    def __init__(self, device):
        self.device = device

    def __call__(self, batch):
        return {k: v.to(self.device) for k, v in batch.items()}


def build_loader(rows, pad_id, batch):
    sampler = DistributedSampler(rows, shuffle=True)
    fn = functools.partial(collate, pad_id=pad_id)
    loader = DataLoader(rows, batch, sampler=sampler, collate_fn=fn, num_workers=4)
    return loader, sampler
