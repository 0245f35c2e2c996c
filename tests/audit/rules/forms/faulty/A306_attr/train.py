import torch


class History:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)  # cause


def main():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = History()
    for _ in range(10000):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 2)).sum()
        loss.backward()
        optimizer.step()
        history.add(loss)  # cause


main()
