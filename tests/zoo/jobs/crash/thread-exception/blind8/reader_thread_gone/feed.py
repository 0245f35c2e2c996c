import queue
import threading

import torch

_END = object()


def records(path):
    with open(path) as lines:
        next(lines)
        for line in lines:
            yield [float(field) for field in line.rstrip("\n").split(",")]


class BackgroundReader:
    def __init__(self, source, batch, depth):
        self.source, self.batch = source, batch
        self.ready = queue.Queue(maxsize=depth)
        self.thread = threading.Thread(target=self._fill, name="reader", daemon=True)
        self.thread.start()

    def _fill(self):
        rows = []
        for row in self.source:
            rows.append(row)
            if len(rows) == self.batch:
                block = torch.tensor(rows)
                self.ready.put((block[:, :6], block[:, 6]))
                rows = []
        self.ready.put(_END)

    def __iter__(self):
        while True:
            item = self.ready.get()
            if item is _END:
                return
            yield item
