import functools
import io

import torch
import torch.distributed as dist

_REGISTRY = {}


def register(name):
    def wrap(cls):
        _REGISTRY[name] = cls
        return cls

    return wrap


def build(name, **options):
    return _REGISTRY[name](**options)


def on_main(method):
    @functools.wraps(method)
    def inner(self, *args, **kwargs):
        if dist.get_rank() == 0:
            return method(self, *args, **kwargs)

    return inner


@register("progress")
class Progress:
    @on_main
    def on_epoch_end(self, loop):
        print(f"epoch {loop.epoch} val {loop.val_loss:.4f}", flush=True)


@register("best_weights")
class BestWeights:
    def __init__(self, warmup=0):
        self.warmup, self.best, self.blob = warmup, float("inf"), None

    @on_main
    def on_epoch_end(self, loop):
        if loop.epoch < self.warmup or loop.val_loss >= self.best:
            return
        self.best = loop.val_loss
        state = {name: value.full_tensor() for name, value in loop.model.state_dict().items()}
        buffer = io.BytesIO()
        torch.save(state, buffer)
        self.blob = buffer.getvalue()
