import torch


class Learner:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def backward(self, loss):
        loss.backward()

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()


def main():
    learner = Learner(torch.nn.Linear(2, 1))
    for _ in range(100):
        loss = learner.net(torch.randn(4, 2)).pow(2).mean()
        learner.backward(loss)
        learner.update()


main()
