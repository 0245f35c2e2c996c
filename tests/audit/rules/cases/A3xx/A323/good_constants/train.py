import torch


def train(model, loader, debug):
    optimizer = torch.optim.AdamW(model.parameters())
    workers = 0 if debug else 0
    for inputs, targets in loader:
        if debug:
            print(inputs.shape)
            loss = model(inputs, targets)
        else:
            loss = model(inputs, targets)
        (loss / 2 if workers else loss).backward()
        optimizer.step()
