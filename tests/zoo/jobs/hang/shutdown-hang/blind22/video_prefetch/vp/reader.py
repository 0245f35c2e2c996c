import queue
import threading

import torch


class ReadAhead:
    """Decodes clips ahead of the consumer, `depth` batches at most."""

    def __init__(self, clips, decode, batch, depth=4):
        self.clips, self.decode, self.batch = clips, decode, batch
        self.slots = queue.Queue(maxsize=depth)

    def _work(self):
        part = []
        for clip in self.clips:
            part.append(self.decode(clip))
            if len(part) == self.batch:
                self.slots.put([torch.stack(t) for t in zip(*part)])
                part = []
        self.slots.put(None)

    def __iter__(self):
        threading.Thread(target=self._work, name="read-ahead").start()
        while (item := self.slots.get()) is not None:
            yield item
