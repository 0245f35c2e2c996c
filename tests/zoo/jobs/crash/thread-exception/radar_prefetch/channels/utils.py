import queue
import threading


class Prefetch:
    def __init__(self, iterable, size=4):
        self.iterable = iterable
        self.queue = queue.Queue(maxsize=size)
        self.thread = threading.Thread(target=self._fill, daemon=True)
        self.thread.start()

    def _fill(self):
        for item in self.iterable:
            self.queue.put(item)
        self.queue.put(None)

    def __iter__(self):
        while True:
            item = self.queue.get()
            if item is None:
                return
            yield item
