from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Brain:
    def __init__(self, modules, lr, accumulation):
        self.modules = {}
        for name, module in modules.items():
            trainable = any(p.requires_grad for p in module.parameters())
            self.modules[name] = DDP(module) if trainable else module
        params = [p for m in self.modules.values() for p in m.parameters() if p.requires_grad]
        self.optim = torch.optim.Adam(params, lr=lr)
        self.accumulation = accumulation
        self.updates = 0

    @contextmanager
    def no_sync(self, use=True):
        saved = []
        if use:
            for module in self.modules.values():
                if hasattr(module, "require_backward_grad_sync"):
                    saved.append(module.require_backward_grad_sync)
                    module.require_backward_grad_sync = False
        yield
        for module, value in zip(self.modules.values(), saved):
            module.require_backward_grad_sync = value

    def factor(self, epoch):
        return self.accumulation[min(epoch, len(self.accumulation) - 1)]

    def fit_epoch(self, epoch, loader):
        factor, running = self.factor(epoch), 0.0
        for i, batch in enumerate(loader):
            last = (i + 1) % factor == 0
            with self.no_sync(not last):
                loss = self.objective(self.forward(batch), batch)
                (loss / factor).backward()
            if last:
                self.optim.step()
                self.optim.zero_grad()
                self.updates += 1
            running += loss.item()
        return running / (i + 1)

    def fit(self, epochs, loader):
        for epoch in range(epochs):
            loader.sampler.set_epoch(epoch)
            mean = torch.tensor(self.fit_epoch(epoch, loader))
            dist.all_reduce(mean)
            if dist.get_rank() == 0:
                print(f"epoch {epoch} updates {self.updates} loss {mean.item() / dist.get_world_size():.4f}", flush=True)
