import threading
import time


class PhraseCache:
    """Pronunciation cache shared by the dataset and the compactor."""

    def __init__(self, limit=400):
        self._lock = threading.RLock()
        self._items = {}
        self.limit = limit

    def get(self, key, make):
        with self._lock:
            if key not in self._items:
                self._items[key] = make(key)
            return self._items[key]

    def compact(self, pace=0.004):
        with self._lock:
            for key in list(self._items)[: self.limit]:
                self._items[key] = self._items[key].contiguous()
                time.sleep(pace)


class Compactor(threading.Thread):
    def __init__(self, cache, every):
        super().__init__(daemon=True, name="compactor")
        self.cache, self.every = cache, every

    def run(self):
        while True:
            time.sleep(self.every)
            self.cache.compact()
