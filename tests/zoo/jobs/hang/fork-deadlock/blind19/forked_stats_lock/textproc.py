import threading
import time
from collections import Counter


class Tokenizer:
    """Byte level tokenizer with a shared cache; the cache is compacted in the background."""

    def __init__(self):
        self.cache, self.lock = {}, threading.Lock()
        self.hits = Counter()

    def encode(self, text):
        with self.lock:
            ids = self.cache.get(text)
            if ids is None:
                ids = self.cache[text] = [b % 64 for b in text.encode()]
            self.hits[text] += 1
        return ids

    def compact(self):
        with self.lock:
            for text, n in list(self.hits.items()):
                if n < 1:
                    self.cache.pop(text, None)
                time.sleep(0.002)

    def start_compaction(self, every=0.001):
        def loop():
            while True:
                self.compact()
                time.sleep(every)
        threading.Thread(target=loop, daemon=True, name="compaction").start()
