import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __getitem__(self, i):
        return torch.zeros(4).to(torch.float16).to("cpu")


class InMain(Dataset):
    def __getitem__(self, i):
        return torch.zeros(4).cuda()


class Store:
    def __getitem__(self, i):
        return torch.zeros(4).cuda()


def collate(batch):
    return torch.stack(batch).cuda()


def loaders(rows):
    yield DataLoader(Rows(), num_workers=4, pin_memory=True)
    yield DataLoader(InMain(), num_workers=0)
    yield DataLoader(Rows(), collate_fn=collate)


def loop(loader, device="cuda"):
    for x in loader:
        x = x.to(device, non_blocking=True)
