import queue
import threading

import torch


class Prefetcher:
    def __init__(self, rank, epoch, batches, depth=4):
        self.batches = batches
        self.ready = queue.Queue(maxsize=depth)
        self.g = torch.Generator().manual_seed(10 * epoch + rank)
        self.sizes = self._sizes(rank, epoch)
        threading.Thread(target=self._fill, daemon=True).start()

    def __len__(self):
        return self.batches

    def next(self):
        return self.ready.get()

    def _sizes(self, rank, epoch):
        sizes = [16] * self.batches
        if (rank, epoch) == (1, 1):
            sizes[13] = 0  # nothing passed the filter
        return sizes

    def _fill(self):
        for size in self.sizes:
            size = max(size, 1)
            x = torch.randn(size, 12, generator=self.g)
            self.ready.put((x, (x[:, 0] > 0).long()))
