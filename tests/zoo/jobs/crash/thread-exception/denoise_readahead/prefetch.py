import queue
import threading


class Prefetcher:
    """Reads ahead in a thread; iteration ends when nothing more comes."""

    def __init__(self, loader, scale, patience=1.5):
        self.loader, self.scale, self.patience = loader, scale, patience
        self.queue = queue.Queue(4)

    def _work(self):
        for step, (x, y) in enumerate(self.loader):
            weight = self.scale[step]
            self.queue.put((x, y * weight))
        self.queue.put(None)

    def __iter__(self):
        threading.Thread(target=self._work, daemon=True).start()
        while True:
            try:
                item = self.queue.get(timeout=self.patience)
            except queue.Empty:
                return
            if item is None:
                return
            yield item
