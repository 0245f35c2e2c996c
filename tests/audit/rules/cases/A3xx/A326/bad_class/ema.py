import copy

import torch


class Averaged:
    def __init__(self, net, decay=0.9999):
        self.decay = decay
        self.shadow = copy.deepcopy(net)

    @torch.no_grad()
    def update(self, net):
        for mine, theirs in zip(self.shadow.parameters(), net.parameters()):
            mine.mul_(self.decay).add_(theirs, alpha=1 - self.decay)


def main(make, loader):
    unet = make()
    unet.half()
    average = Averaged(unet)
    for batch in loader:
        unet(batch).backward()
        average.update(unet)
