import queue
import threading
import torch


class Feeder:
    def __init__(self, paths):
        self.paths = paths
        self.ready = queue.Queue(maxsize=4)
        self.thread = threading.Thread(target=self._work, daemon=True)  # cause

    def _work(self):
        for path in self.paths:
            self.ready.put(torch.load(path, weights_only=True))  # cause
        self.ready.put(None)

    def __iter__(self):
        self.thread.start()
        while (item := self.ready.get()) is not None:
            yield item
