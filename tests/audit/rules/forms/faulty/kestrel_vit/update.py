from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch.nn.utils import clip_grad_norm_


@dataclass
class Precision:
    half: bool = True
    growth_interval: int = 1000

    def scaler(self):
        return torch.amp.GradScaler("cuda", enabled=self.half, growth_interval=self.growth_interval)

    def context(self):
        return torch.autocast("cuda", dtype=torch.float16) if self.half else nullcontext()


class UpdateRule:
    def __init__(self, module, opt, sched, precision, max_norm=1.0):
        self.params = [p for p in module.parameters() if p.requires_grad]
        self.opt, self.sched = opt, sched
        self.scaler = precision.scaler()
        self.max_norm = max_norm
        self.last_norm = torch.zeros(())

    def backward(self, loss):
        self.scaler.scale(loss).backward()  # cause

    def apply(self):
        if self.max_norm:  # cause
            self.last_norm = clip_grad_norm_(self.params, self.max_norm)  # cause
        before = self.scaler.get_scale()
        self.scaler.step(self.opt)  # cause
        self.scaler.update()
        if self.scaler.get_scale() >= before:
            self.sched.step()
        self.opt.zero_grad(set_to_none=True)
