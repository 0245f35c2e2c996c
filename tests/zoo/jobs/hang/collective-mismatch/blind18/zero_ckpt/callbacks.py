import logging
import os

import torch

log = logging.getLogger(__name__)


class Callback:
    def on_step_end(self, trainer):
        pass

    def on_fit_end(self, trainer):
        pass


class LossPrinter(Callback):
    def __init__(self, every):
        self.every = every

    def on_step_end(self, trainer):
        if trainer.step % self.every == 0 and trainer.is_main:
            log.info("step %d loss %.4f lr %.2e", trainer.step, trainer.last_loss, trainer.opt.param_groups[0]["lr"])


class BestKeeper(Callback):
    def __init__(self, folder, every, warm):
        self.folder, self.every, self.warm = folder, every, warm
        self.best = float("inf")
        os.makedirs(folder, exist_ok=True)

    def on_step_end(self, trainer):
        if trainer.step < self.warm or trainer.step % self.every:
            return
        score = trainer.smoothed
        if score < self.best:
            self.best = score
            if trainer.is_main:
                self.write(trainer, "best.pt")

    def write(self, trainer, name):
        state = trainer.snapshot()
        torch.save(state, os.path.join(self.folder, name))
        log.info("kept %s at step %d (%.4f)", name, trainer.step, self.best)
