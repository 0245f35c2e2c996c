import queue
import threading

import torch


class Prefetcher:
    END = object()

    def __init__(self, source, depth=4):
        self.source, self.q = source, queue.Queue(depth)
        threading.Thread(target=self._fill, name="prefetch", daemon=True).start()

    def _fill(self):
        for item in self.source:
            self.q.put(self.prepare(item))
        self.q.put(self.END)

    @staticmethod
    def prepare(item):
        x, lengths = item
        mask = torch.arange(x.shape[1])[None] < lengths[:, None]
        return (x * mask).view(len(lengths), 4, -1).sum(1), lengths.float() / x.shape[1]

    def __iter__(self):
        while (item := self.q.get()) is not self.END:
            yield item
