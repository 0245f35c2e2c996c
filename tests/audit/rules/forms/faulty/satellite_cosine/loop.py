import torch
import torch.distributed as dist
from torch import nn


class Classifier:
    def __init__(self, net, opt, sched, device):
        self.net, self.opt, self.sched = net, opt, sched
        self.device = device
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.1)

    def update(self, images, labels):
        out = self.net(images.to(self.device, non_blocking=True))
        loss = self.loss(out, labels.to(self.device, non_blocking=True))
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        self.sched.step()  # cause
        return loss.detach()

    def run_epoch(self, loader, epoch):
        loader.sampler.set_epoch(epoch)
        self.net.train()
        running = torch.zeros((), device=self.device)
        for images, labels in loader:
            running += self.update(images, labels)
        running /= len(loader)
        dist.all_reduce(running, op=dist.ReduceOp.AVG)
        return running.item()
