import time

import torch
import torch.distributed as dist

REGISTRY = {}


def register(name, priority):
    def deco(cls):
        cls.name, cls.priority = name, priority
        REGISTRY[name] = cls
        return cls
    return deco


class Callback:
    def on_interval(self, trainer):
        pass

    def on_step(self, trainer, loss):
        pass


@register("throughput", 10)
class Throughput(Callback):
    def __init__(self):
        self.t = time.perf_counter()

    def on_interval(self, trainer):
        now = time.perf_counter()
        trainer.info(f"{trainer.s.every / (now - self.t):.1f} it/s")
        self.t = now


@register("ema", 30)
class EMATeacher(Callback):
    def __init__(self):
        self.shadow = None

    def on_step(self, trainer, loss):
        flat = torch.cat([p.detach().flatten() for p in trainer.model.parameters()])
        self.shadow = flat.clone() if self.shadow is None else self.shadow.lerp_(flat, 1 - trainer.s.ema)

    def on_interval(self, trainer):
        dist.broadcast(self.shadow, src=0)


@register("running_loss", 40)
class RunningLoss(Callback):
    def __init__(self):
        self.total, self.n = 0.0, 0

    def on_step(self, trainer, loss):
        self.total += loss
        self.n += 1

    def on_interval(self, trainer):
        t = torch.tensor([self.total, self.n], dtype=torch.float64)
        dist.all_reduce(t)
        trainer.info(f"step {trainer.step} loss {(t[0] / t[1]).item():.4f}")
        self.total, self.n = 0.0, 0


@register("snapshots", 50)
class Snapshots(Callback):
    needs = ("running_loss", "ema")

    def __init__(self):
        self.best = None

    def on_interval(self, trainer):
        self.best = [p.detach().clone() for p in trainer.model.parameters()]


def build(names):
    chosen = {}
    for n in names:
        for need in getattr(REGISTRY[n], "needs", ()):
            chosen.setdefault(need, REGISTRY[need]())
        chosen.setdefault(n, REGISTRY[n]())
    return list(chosen.values())
