import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import get_scheduler


def multiplied(model, data, epochs):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, 8, shuffle=True))
    updates = epochs * len(loader) * accelerator.num_processes
    scheduler = accelerator.prepare(get_scheduler("cosine", optimizer, num_training_steps=updates))
    return scheduler


def counted_before(model, data, epochs):
    accelerator = Accelerator()
    loader = DataLoader(data, 8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = get_scheduler("cosine", optimizer, num_training_steps=epochs * len(loader))
    return accelerator.prepare(model, optimizer, loader, scheduler)


def stepped_by_the_rank(model, data, epochs):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, 8, shuffle=True))
    return get_scheduler("cosine", optimizer, num_training_steps=epochs * len(loader))


if __name__ == "__main__":
    print(multiplied(torch.load("model.pt"), torch.load("data.pt"), 3))
    print(counted_before(torch.load("model.pt"), torch.load("data.pt"), 3))
    print(stepped_by_the_rank(torch.load("model.pt"), torch.load("data.pt"), 3))
