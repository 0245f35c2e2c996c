import itertools

import torch


class Agent:
    def __init__(self, actor, critic):
        self.params = list(itertools.chain(actor.parameters(), critic.parameters()))
        self.optimizer = torch.optim.Adam(self.params, lr=3e-4)

    def update(self, loss):
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.params, 0.5)
        self.optimizer.step()


def either(model, kind):
    params = filter(lambda p: p.requires_grad, model.parameters())
    if kind == "adam":
        optimizer = torch.optim.Adam(params)
    else:
        optimizer = torch.optim.SGD(params, lr=0.1)
    return optimizer


def anew(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        model(x).mean().backward()
        params = (p for p in model.parameters() if p.grad is not None)
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()


def twice(model):
    params = model.parameters()
    params = list(params)
    for one in params:
        one.grad = None
    for one in params:
        one.requires_grad = False


def once(model):
    params = model.parameters()
    for name in ("a", "b"):
        print(name)
    for one in params:
        print(one.shape)
