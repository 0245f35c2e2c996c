import torch


def evaluate(model, loader, seed):
    torch.manual_seed(seed)
    return model(next(iter(loader)))


def train(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        if epoch == 0:
            torch.manual_seed(0)
        for batch in loader:
            model(batch).backward()
            optimizer.step()
        evaluate(model, loader, epoch)
    evaluate(model, loader, 0)
