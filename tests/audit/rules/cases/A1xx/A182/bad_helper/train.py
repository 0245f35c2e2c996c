import torch
from torch.utils.data import DataLoader


def make_loader(data, batch, split, cut=False):
    return DataLoader(data, batch, shuffle=split != "predict", drop_last=cut or split == "valid")


def main(model, optimizer, train_set, valid_set, evaluate):
    best = 0.0
    loader = make_loader(train_set, 64, "train", cut=True)
    valid_loader = make_loader(valid_set, 64, "valid")
    for batch in loader:
        model(batch).backward()
        optimizer.step()
        best = max(best, evaluate(model, valid_loader))
