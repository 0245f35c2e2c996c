import torch
import torch.distributed as dist
from torch.optim.lr_scheduler import ReduceLROnPlateau


class Tuner:
    def __init__(self, opt, patience=3, factor=0.5):
        self.plateau = ReduceLROnPlateau(opt, mode="min", patience=patience, factor=factor)
        self.opt = opt
        self.log = []

    @property
    def rate(self):
        return self.opt.param_groups[0]["lr"]

    def end_epoch(self, epoch, losses):
        value = torch.stack(losses).mean()
        dist.all_reduce(value)
        value /= dist.get_world_size()
        self.plateau.step(value)
        if dist.get_rank() == 0:
            self.log.append((epoch, value.item(), self.rate))
            print("epoch %d loss %.5f lr %.2e" % self.log[-1], flush=True)
