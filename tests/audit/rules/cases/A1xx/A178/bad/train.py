import torch


def sample(model, shape):
    torch.manual_seed(42)
    return model.decode(torch.randn(shape))


def train(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        sample(model, (4, 3, 32, 32))
