import queue
import threading

import torch


class Prefetcher:
    """Prepares batches in a thread, `depth` ahead of the training loop."""

    def __init__(self, source, depth=4):
        self.queue = queue.Queue(maxsize=depth)
        self.source = source
        self.thread = threading.Thread(target=self._fill, name="prefetch")
        self.thread.start()

    def _fill(self):
        for wave, label in self.source:
            spec = torch.stft(wave, 64, 32, window=torch.hann_window(64), return_complex=True).abs().log1p()
            self.queue.put((spec, label))
        self.queue.put(None)

    def __iter__(self):
        while True:
            item = self.queue.get()
            if item is None:
                return
            yield item
