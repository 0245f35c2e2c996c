import torch


def train(rank):
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        loss = model(torch.randn(4, 2)).sum()
        loss.backward()
        optimizer.step()
