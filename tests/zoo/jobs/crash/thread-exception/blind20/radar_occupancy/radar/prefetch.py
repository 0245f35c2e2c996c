import threading
from queue import Queue


class Prefetch:
    """Runs an iterable in the background and keeps `size` items ready."""

    _DONE = object()

    def __init__(self, iterable, size=8):
        self.iterable, self.size = iterable, size

    def _produce(self, ready):
        for item in self.iterable:
            ready.put(item)
        ready.put(self._DONE)

    def __iter__(self):
        ready = Queue(maxsize=self.size)
        threading.Thread(target=self._produce, args=(ready,), daemon=True).start()
        while (item := ready.get()) is not self._DONE:
            yield item
