import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


class Learner:
    def __init__(self, net, opt):
        self.net = DistributedDataParallel(net)
        self.core = self.net.module
        self.opt = opt

    def objective(self, x, y):
        a, b = self.core(x)  # cause
        scores = a @ b.t()
        return F.cross_entropy(scores, y)

    def step(self, x, y):
        loss = self.objective(x, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
