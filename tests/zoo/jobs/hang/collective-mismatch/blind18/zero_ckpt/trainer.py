import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, model, batches, cfg, callbacks):
        self.is_main = dist.get_rank() == 0
        self.model = DDP(model)
        self.opt = ZeroRedundancyOptimizer(self.model.parameters(), optimizer_class=torch.optim.AdamW, lr=cfg.lr)
        self.batches, self.cfg, self.callbacks = batches, cfg, callbacks
        self.step, self.last_loss, self.smoothed = 0, None, None

    def snapshot(self):
        self.opt.consolidate_state_dict(to=0)
        return {"model": self.model.module.state_dict(), "opt": self.opt.state_dict(), "step": self.step}

    def fit(self):
        for x, y in self.batches:
            loss = self.model(x, y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.step += 1
            self.last_loss = loss.item()
            avg = loss.detach().clone()
            dist.all_reduce(avg)
            avg = avg.item() / dist.get_world_size()
            self.smoothed = avg if self.smoothed is None else 0.95 * self.smoothed + 0.05 * avg
            for c in self.callbacks:
                c.on_step_end(self)
        for c in self.callbacks:
            c.on_fit_end(self)
