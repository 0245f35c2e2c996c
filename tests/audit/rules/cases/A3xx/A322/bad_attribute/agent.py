import itertools

import torch


class Agent:
    def __init__(self, actor, critic):
        self.params = itertools.chain(actor.parameters(), critic.parameters())
        self.optimizer = torch.optim.Adam(self.params, lr=3e-4)

    def update(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.params, 0.5)
        self.optimizer.step()


class Average:
    def __init__(self, net):
        self.kept = make(net)
        self.net = net

    def norm(self):
        return torch.nn.utils.get_total_norm(self.kept)


def make(net):
    for one in net.parameters():
        yield one
