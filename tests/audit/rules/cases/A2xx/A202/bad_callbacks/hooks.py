import functools

import torch.distributed as dist


def single(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        if dist.get_rank() != 0:
            return None
        return fn(*args, **kwargs)

    return inner


class Clock:
    @single
    def on_epoch_end(self, loop):
        print(loop.epoch)


class Scores:
    @single
    def on_epoch_end(self, loop):
        print(loop.epoch, loop.evaluate())
