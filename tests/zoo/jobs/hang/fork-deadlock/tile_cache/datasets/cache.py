import threading
import time


class SharedCache(dict):
    """Decoded tiles; a background thread drops what has not been used lately."""

    def __init__(self, limit=32, every=0.2):
        super().__init__()
        self.limit = limit
        self.every = every
        self.lock = threading.Lock()
        self.sweeping = threading.Event()
        self.janitor = None

    def start(self):
        self.janitor = threading.Thread(target=self._sweep, daemon=True)
        self.janitor.start()

    def _sweep(self):
        while True:
            self.lock.acquire()
            self.sweeping.set()
            while len(self) > self.limit:
                self.pop(next(iter(self)))
                time.sleep(0.05)
            self.lock.release()
            time.sleep(self.every)

    def remember(self, key, make):
        with self.lock:
            if key not in self:
                self[key] = make(key)
            return self[key]


cache = SharedCache()
