import threading
from queue import Queue

STOP = object()


class BackgroundLoader:
    def __init__(self, source, transform, depth=2):
        self.source, self.transform = source, transform
        self.queue = Queue(depth)
        self.thread = threading.Thread(target=self._fill, daemon=True)

    def _fill(self):
        try:
            for item in self.source:
                self.queue.put(self.transform(item))
        finally:
            self.queue.put(STOP)

    def __iter__(self):
        self.thread.start()
        while True:
            item = self.queue.get()
            if item is STOP:
                return
            yield item
