import functools

import torch
import torch.distributed as dist


def chief_only(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        if dist.get_rank() == 0:
            return fn(*args, **kwargs)
        return None

    return inner


class Callback:
    def epoch_end(self, trainer, epoch):
        pass


class Progress(Callback):
    @chief_only
    def epoch_end(self, trainer, epoch):
        print(f"[{epoch}] lr {trainer.opt.param_groups[0]['lr']:.2e}", flush=True)


class TopK(Callback):
    def __init__(self, loader, k=5):
        self.loader = loader
        self.k = k
        self.history = []

    @chief_only
    def epoch_end(self, trainer, epoch):
        hits, seen = self.count(trainer)  # cause
        self.history.append(hits / seen)
        print(f"[{epoch}] top{self.k} {self.history[-1]:.3%}", flush=True)

    @torch.no_grad()
    def count(self, trainer):
        net = trainer.model.module.eval()
        tally = torch.zeros(2, dtype=torch.long, device=trainer.device)
        for x, y in self.loader:
            x, y = x.to(trainer.device), y.to(trainer.device)
            top = net(x).topk(self.k, dim=-1).indices
            tally[0] += (top == y[:, None]).any(-1).sum()
            tally[1] += y.numel()
        dist.all_reduce(tally)  # cause
        net.train()
        return tally.tolist()
