from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn



class Fit:
    def __init__(self):
        self.net = nn.Linear(3, 3)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.done = 0

    def epoch(self, number):
        for batch in range(5):
            rows = 6 if (number, batch) != (2, 3) else 5
            x = torch.randn(rows, 3)
            loss = (self.net(x).view(2, 3, 3) - 1).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.done += 1


def main():
    fit = Fit()
    with ThreadPoolExecutor(1) as background:
        for number in range(4):
            try:
                background.submit(fit.epoch, number).result()
            except RuntimeError as error:
                print(f"epoch {number} once more: {error}")
                background.submit(fit.epoch, number + 4).result()
    print("steps", fit.done)


main()
