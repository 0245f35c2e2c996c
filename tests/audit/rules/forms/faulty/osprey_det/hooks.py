import functools
import json
import time

import torch
import torch.distributed as dist


def main_only(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        if dist.get_rank() != 0:  # cause
            return None
        return fn(*args, **kwargs)

    return inner


class Hook:
    def on_epoch_begin(self, trainer):
        pass

    def on_epoch_end(self, trainer):
        pass


class Clock(Hook):
    def on_epoch_begin(self, trainer):
        self.since = time.monotonic()

    @main_only
    def on_epoch_end(self, trainer):
        print(f"epoch {trainer.epoch}: {time.monotonic() - self.since:.1f}s", flush=True)


class ScoreBoard(Hook):
    def __init__(self, path):
        self.path = path
        self.best = float("inf")

    @main_only
    def on_epoch_end(self, trainer):
        score = trainer.evaluate()  # cause
        with open(self.path, "a") as f:
            f.write(json.dumps({"epoch": trainer.epoch, "val": score}) + "\n")
        if score < self.best:
            self.best = score
            torch.save(trainer.net.module.state_dict(), self.path + ".best.pt")
