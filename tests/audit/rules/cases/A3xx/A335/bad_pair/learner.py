import torch
from torch import nn


class Learner:
    def __init__(self, net):
        self.online, self.target = net, net
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def sync(self, tau):
        for slow, fast in zip(self.target.parameters(), self.online.parameters()):
            slow.data.copy_(tau * fast.data + (1 - tau) * slow.data)


def main():
    learner = Learner(nn.Linear(4, 2))
    for _ in range(10):
        learner.sync(0.01)


main()
