import queue
import threading

import torch


class BackgroundFeed:
    """Encodes documents ahead of the training loop."""

    def __init__(self, shard, vocab, context, batch, depth):
        self.shard = shard
        self.vocab = vocab
        self.context = context
        self.batch = batch
        self.slots = queue.Queue(maxsize=depth)
        self.worker = threading.Thread(target=self._pump, name="feed", daemon=True)
        self.worker.start()

    def _encode(self, text):
        return [self.vocab[ch] for ch in text]

    def _pump(self):
        stream = []
        need = self.batch * self.context + 1
        try:
            for text in self.shard:
                stream.extend(self._encode(text))
                while len(stream) >= need:
                    block = torch.tensor(stream[:need])
                    del stream[: need - 1]
                    x = block[:-1].view(self.batch, self.context)
                    y = block[1:].view(self.batch, self.context)
                    self.slots.put((x, y))
        finally:
            self.slots.put(None)

    def take(self):
        return self.slots.get()
