import queue
import threading

import torch

from criteo import parse_line

_END = object()


class DataLoadingThread(threading.Thread):
    """Parses lines into batches ahead of the training step."""

    def __init__(self, lines, batch_size, buckets, depth=4):
        super().__init__(name="data-loading", daemon=True)
        self.lines, self.batch_size, self.buckets = lines, batch_size, buckets
        self.buffer = queue.Queue(maxsize=depth)

    def run(self):
        rows = []
        for line in self.lines:
            rows.append(parse_line(line, self.buckets))
            if len(rows) == self.batch_size:
                self.buffer.put(self._collate(rows))
                rows = []
        self.buffer.put(_END)

    @staticmethod
    def _collate(rows):
        label, dense, sparse = zip(*rows)
        return (
            torch.tensor(label, dtype=torch.float32),
            torch.log1p(torch.tensor(dense)),
            torch.tensor(sparse),
        )


class TrainPipeline:
    def __init__(self, model, optimizer, loss_fn, timeout=12.0):
        self.model, self.optimizer, self.loss_fn = model, optimizer, loss_fn
        self.timeout = timeout
        self.loader = None

    def attach(self, loader):
        self.loader = loader
        loader.start()

    def progress(self):
        """One step; raises StopIteration at the end of the day."""
        batch = self.loader.buffer.get(timeout=self.timeout)
        if batch is _END:
            raise StopIteration
        label, dense, sparse = batch
        loss = self.loss_fn(self.model(dense, sparse), label)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()
