import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def main(dataset, epochs):
    accelerator = Accelerator()
    sampler = DistributedSampler(dataset)
    loader = accelerator.prepare(DataLoader(dataset, sampler=sampler))
    model = accelerator.prepare(torch.nn.Linear(2, 1))
    for epoch in range(epochs):
        for batch in loader:
            accelerator.backward(model(batch).sum())
