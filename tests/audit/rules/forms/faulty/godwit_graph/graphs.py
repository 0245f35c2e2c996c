import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Molecules(Dataset):
    def __init__(self, path):
        self.items = torch.load(path, map_location="cpu", weights_only=True)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        m = self.items[i]
        return m["atoms"], m["bonds"], m["energy"]


def merge(batch, limit):
    atoms, bonds, owner, energy, at = [], [], [], [], 0
    for k, (a, b, e) in enumerate(batch):
        a = a[:limit]
        b = b[:, (b < limit).all(0)]
        atoms.append(a)
        bonds.append(b + at)
        owner.append(torch.full((a.numel(),), k))
        energy.append(e)
        at += a.numel()
    return torch.cat(atoms), torch.cat(bonds, 1), torch.cat(owner), torch.stack(energy)


def make_loader(path, batch, limit, workers=4):
    ds = Molecules(path)
    order = DistributedSampler(ds, drop_last=True)

    def collate(rows):  # cause
        return merge(rows, limit)

    loader = DataLoader(  # cause
        ds,
        batch_size=batch,
        sampler=order,
        num_workers=workers,
        collate_fn=collate,  # cause
        drop_last=True,
        persistent_workers=True,
        multiprocessing_context="spawn",  # cause
    )
    return loader, order
