import logging
import time

from seg.checkpoint import BackgroundWriter

log = logging.getLogger("seg")


class Callback:
    def on_fit_start(self, trainer): ...
    def on_epoch_end(self, trainer, metrics): ...
    def on_fit_end(self, trainer): ...


class Throughput(Callback):
    def on_fit_start(self, trainer):
        self.began = time.perf_counter()

    def on_fit_end(self, trainer):
        log.info("%.1f steps/s", trainer.global_step / (time.perf_counter() - self.began))


class KeepBest(Callback):
    def __init__(self, folder, monitor="iou"):
        self.writer = BackgroundWriter(folder)
        self.monitor, self.best = monitor, float("-inf")

    def on_epoch_end(self, trainer, metrics):
        if trainer.rank == 0 and metrics[self.monitor] > self.best:
            self.best = metrics[self.monitor]
            self.writer.submit(trainer.model.module.state_dict(), f"best-{trainer.epoch}")

    def on_exception(self, trainer, error):
        self.writer.close()
