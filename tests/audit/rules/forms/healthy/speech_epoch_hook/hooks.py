import logging
import time

log = logging.getLogger(__name__)


class Hook:
    def on_epoch_start(self, epoch, loader):
        pass

    def on_epoch_end(self, epoch, stats):
        pass


class ReshuffleHook(Hook):
    def on_epoch_start(self, epoch, loader):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)


class TimerHook(Hook):
    def __init__(self, enabled):
        self.enabled = enabled
        self.t0 = 0.0

    def on_epoch_start(self, epoch, loader):
        self.t0 = time.perf_counter()

    def on_epoch_end(self, epoch, stats):
        if self.enabled:
            log.info("epoch %d took %.1fs loss %.4f", epoch, time.perf_counter() - self.t0, stats["loss"])
