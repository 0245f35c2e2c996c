import torch
from torch.utils.data import DataLoader


def main(dataset):
    model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
    loader = DataLoader(dataset, shuffle=True)
    for batch in loader:
        model(batch).sum().backward()
