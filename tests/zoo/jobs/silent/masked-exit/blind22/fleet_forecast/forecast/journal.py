import json
import time


class Journal:
    """Writes one line per event; use it with `with`."""

    def __init__(self, path):
        self.path = path
        self.pending = []

    def __enter__(self):
        self.began = time.time()
        return self

    def add(self, kind, **facts):
        self.pending.append({"t": round(time.time() - self.began, 3), "kind": kind, **facts})
        if len(self.pending) >= 50:
            self.flush()

    def flush(self):
        with open(self.path, "a") as f:
            written = f.write("".join(json.dumps(e) + "\n" for e in self.pending))
        self.pending.clear()
        return written

    def __exit__(self, *exc):
        self.add("end")
        return self.flush()
