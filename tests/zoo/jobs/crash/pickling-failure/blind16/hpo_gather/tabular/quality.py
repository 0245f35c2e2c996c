import collections
import threading


class OutlierBook:
    """Remembers rows whose value lies far outside; safe for the reader threads."""

    def __init__(self, keep):
        self.keep = keep
        self.rows = collections.deque(maxlen=keep)
        self.lock = threading.Lock()

    def add(self, idx, score):
        with self.lock:
            self.rows.append((int(idx), float(score)))

    def worst(self):
        return max((s for _, s in self.rows), default=0.0)


class Inspector:
    def __init__(self, limit, keep=20):
        self.limit, self.keep = limit, keep
        self.books = {}

    def look(self, column, idx, values):
        z = values.abs()
        for i, v in zip(idx.tolist(), z.tolist()):
            if v > self.limit:
                self.books.setdefault(column, OutlierBook(self.keep)).add(i, v)
