import torch


def train(model, batches, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for batch in batches:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] *= 0.1 ** (epoch // 30)
