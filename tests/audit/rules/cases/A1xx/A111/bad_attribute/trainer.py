from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, net):
        self.model = DistributedDataParallel(net)

    def step(self, x, y):
        loss = (self.model.module.forward(x) - y).square().mean()
        loss.backward()
