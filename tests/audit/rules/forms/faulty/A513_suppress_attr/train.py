import torch
from scope import Timer


def main():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Timer():  # cause
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(2, 2)).sum().backward()
            optimizer.step()


main()
