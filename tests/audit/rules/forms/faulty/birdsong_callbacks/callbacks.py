import time

import torch.distributed as dist


class Callback:
    def on_epoch_start(self, epoch):
        pass

    def on_step(self, n):
        pass

    def on_epoch_end(self, epoch):
        pass


class EpochBookkeeping(Callback):
    def __init__(self, loader):
        self.loader = loader
        self.seen = []

    def on_epoch_start(self, epoch):
        self.seen.append(epoch)
        if hasattr(self.loader, "set_epoch"):  # cause
            self.loader.set_epoch(epoch)  # cause


class ThroughputMeter(Callback):
    def on_epoch_start(self, epoch):
        self.count, self.begin = 0, time.perf_counter()

    def on_step(self, n):
        self.count += n

    def on_epoch_end(self, epoch):
        if dist.get_rank() == 0:
            took = time.perf_counter() - self.begin
            print(f"epoch {epoch}: {self.count / took:.1f} clips/s per rank", flush=True)


class CallbackList:
    def __init__(self, items):
        self.items = items

    def fire(self, event, *payload):
        for item in self.items:
            getattr(item, event)(*payload)
