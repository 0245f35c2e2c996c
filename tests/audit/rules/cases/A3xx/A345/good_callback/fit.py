import torch
from average import Smoothed


class Fitter:
    def __init__(self, net, every):
        self.net, self.every = net, every
        self.smoothed = Smoothed(net)
        self.optimizer = torch.optim.Adam(net.parameters())

    def fit(self, batches, callbacks):
        for step, x in enumerate(batches):
            self.optimizer.zero_grad()
            self.net(x).square().mean().backward()
            self.optimizer.step()
            for one in callbacks:
                one(self, step)
        return self.smoothed.predict(batches[0])


def follow(fitter, step):
    if step % fitter.every == 0:
        fitter.smoothed.follow(fitter.net)
