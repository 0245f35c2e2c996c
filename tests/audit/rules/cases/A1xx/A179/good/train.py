import torch
from torch.utils.data import DataLoader


def train(model, optimizer, data, state, epochs, seed):
    for epoch in range(state["epoch"], epochs):
        generator = torch.Generator().manual_seed(seed)
        loader = DataLoader(data, batch_size=8, shuffle=True, generator=generator)
        for step, batch in enumerate(loader):
            if epoch == state["epoch"] and step < state["resume_step"]:
                continue
            model(batch).backward()
            optimizer.step()
