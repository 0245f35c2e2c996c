import torch


def train(model, loader, rank):
    optimizer = torch.optim.AdamW(model.parameters())
    for inputs, targets in loader:
        net = model.module if hasattr(model, "module") else model.module
        loss = net(inputs, targets)
        loss.backward()
        optimizer.step()
