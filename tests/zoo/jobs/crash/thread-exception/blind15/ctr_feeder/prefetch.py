import queue
import threading

import torch

from records import parse

END = object()


class Prefetcher:
    """Reads and parses in the background, hands over ready batches."""

    def __init__(self, paths, batch, depth=8, patience=12.0):
        self.paths, self.batch, self.patience = paths, batch, patience
        self._out = queue.Queue(depth)
        self._stop = threading.Event()

    def _rows(self):
        for path in self.paths:
            with open(path) as f:
                for line in f:
                    yield parse(line)

    def _produce(self):
        xs, ys = [], []
        for x, y in self._rows():
            if self._stop.is_set():
                return
            xs.append(x)
            ys.append(y)
            if len(xs) == self.batch:
                self._out.put((torch.tensor(xs), torch.tensor(ys, dtype=torch.float32)))
                xs, ys = [], []
        self._out.put(END)

    def __iter__(self):
        thread = threading.Thread(target=self._produce, name="prefetch", daemon=True)
        thread.start()
        while True:
            item = self._out.get(timeout=self.patience)
            if item is END:
                return
            yield item
