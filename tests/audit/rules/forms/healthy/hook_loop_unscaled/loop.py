import os
from collections import defaultdict

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from hooks import ClipHook, LrHook


class Loop:
    def __init__(self, model, optimizer, hooks, device, amp_dtype=torch.float16):
        self.model = model
        self.optimizer = optimizer
        self.hooks = hooks
        self.device = device
        self.amp_dtype = amp_dtype
        self.scaler = torch.amp.GradScaler("cuda", enabled=amp_dtype is torch.float16)
        self.history = defaultdict(list)

    def record(self, key, value):
        self.history[key].append(value)

    def fire(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def train_step(self, images, target):
        with torch.autocast("cuda", dtype=self.amp_dtype):
            loss = torch.nn.functional.cross_entropy(self.model(images), target)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        self.fire("after_backward")
        self.scaler.step(self.optimizer)
        scale = self.scaler.get_scale()
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        if self.scaler.get_scale() >= scale:
            self.fire("after_step")
        return loss.detach()

    def run(self, loader, epochs):
        for epoch in range(epochs):
            loader.sampler.set_epoch(epoch)
            self.model.train()
            for images, target in loader:
                images = images.to(self.device, non_blocking=True)
                target = target.to(self.device, non_blocking=True)
                loss = self.train_step(images, target)
            if dist.get_rank() == 0:
                print(epoch, loss.item())


def make_loop(model, steps, lr=0.1):
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    ddp = DistributedDataParallel(model.to(device), device_ids=[local])
    optimizer = torch.optim.SGD(ddp.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)
    return Loop(ddp, optimizer, [ClipHook(1.0), LrHook(scheduler)], device)
