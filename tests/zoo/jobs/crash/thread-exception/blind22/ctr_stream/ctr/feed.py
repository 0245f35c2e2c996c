import queue
import threading

import torch


class Feed:
    """Reads ahead in the background; `next` waits for at most `patience` seconds."""

    def __init__(self, log, batch, depth=8, patience=6.0):
        self.log = log
        self.batch = batch
        self.patience = patience
        self.ready = queue.Queue(depth)
        self.head = log.scan(limit=batch)
        self.thread = threading.Thread(target=self.fill, name="feed", daemon=True)
        self.thread.start()

    def fill(self):
        rows = self.head
        while rows:
            self.ready.put(torch.tensor(rows))
            rows = self.log.scan(after=rows[-1][0], limit=self.batch)
        self.ready.put(None)

    def __iter__(self):
        while True:
            block = self.ready.get(timeout=self.patience)
            if block is None:
                return
            yield block[:, 1], block[:, 2], block[:, 3].float()
