import torch


class Scorer:
    """Batched probabilities of a network."""

    def __init__(self, net, batch=256):
        self.net = net.eval()
        self.batch = batch

    @torch.no_grad()
    def __call__(self, x):
        return torch.cat([self.net(part).sigmoid() for part in x.split(self.batch)])


class ReliabilityProbe:
    """Expected calibration error on a held-out sample, at given epochs."""

    def __init__(self, x, y, first_epoch, every, bins=10):
        self.x, self.y = x, y
        self.first_epoch, self.every, self.bins = first_epoch, every, bins

    def __call__(self, epoch, net):
        if epoch < self.first_epoch or (epoch - self.first_epoch) % self.every:
            return None
        prob = Scorer(net)(self.x)
        which = (prob * self.bins).long().clamp(max=self.bins - 1)
        error = 0.0
        for b in range(self.bins):
            hit = which == b
            if hit.any():
                error += hit.float().mean().item() * (prob[hit].mean() - self.y[hit].mean()).abs().item()
        return error
