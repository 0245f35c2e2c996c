import torch


class Learner:
    def __init__(self, net, every):
        self.net = net
        self.every = every
        self.count = 0
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 1000)

    def step(self, x):
        (self.net(x).pow(2).mean() / self.every).backward()
        self.count += 1
        if self.count % self.every == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.schedule.step()  # cause


def main():
    learner = Learner(torch.nn.Linear(2, 1), 4)
    for _ in range(1000):
        learner.step(torch.randn(4, 2))


main()
