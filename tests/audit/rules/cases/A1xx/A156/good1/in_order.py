import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def main(dataset):
    in_order = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=False))
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    model = torch.nn.Linear(2, 1)
    for epoch in range(1):
        for batch in loader:
            model(batch).sum().backward()
    return in_order


def evaluate(dataset, model, epochs):
    val_sampler = DistributedSampler(dataset)
    for epoch in range(epochs):
        for batch in DataLoader(dataset, sampler=val_sampler):
            model(batch)
