from __future__ import annotations

from typing import Iterator, List

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Sampler


class Utterances(Dataset):
    def __init__(self, manifest: List[dict]):
        self.manifest = manifest

    def __len__(self) -> int:
        return len(self.manifest)

    def __getitem__(self, i: int):
        row = self.manifest[i]
        feats = torch.load(row["feats"], map_location="cpu", weights_only=True)
        return feats, torch.tensor(row["tokens"])


class FrameBudget(Sampler[List[int]]):
    """Group neighbouring indices until max_frames is reached."""

    def __init__(self, inner: DistributedSampler, lengths: List[int], max_frames: int):
        self.inner = inner
        self.lengths = lengths
        self.max_frames = max_frames
        self.rounds = 64

    def __iter__(self) -> Iterator[List[int]]:
        bucket: List[int] = []
        last: List[int] = [0]
        longest = 0
        made = 0
        for i in self.inner:
            longest = max(longest, self.lengths[i])
            if bucket and longest * (len(bucket) + 1) > self.max_frames:
                yield bucket
                made += 1
                if made == self.rounds:
                    return
                last = bucket
                bucket, longest = [], self.lengths[i]
            bucket.append(i)
        while made < self.rounds:
            yield bucket or last
            made += 1

    def __len__(self) -> int:
        return self.rounds


def pad(batch):
    feats, tokens = zip(*batch)
    lens = torch.tensor([f.size(0) for f in feats])
    x = torch.nn.utils.rnn.pad_sequence(feats, batch_first=True)
    y = torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True)
    return x, lens, y, torch.tensor([t.numel() for t in tokens])


def make_loader(manifest, max_frames: int, workers: int) -> DataLoader:
    ds = Utterances(manifest)
    inner = DistributedSampler(ds, shuffle=True, seed=17)  # cause
    budget = FrameBudget(inner, [r["frames"] for r in manifest], max_frames)
    return DataLoader(ds, batch_sampler=budget, num_workers=workers, collate_fn=pad, pin_memory=True)  # cause
