import atexit
import json
import queue
import threading


class Tracker:
    """Writes scalars to a JSON lines file off the training thread."""

    def __init__(self, path, flush_every=10):
        self.path = path
        self.flush_every = flush_every
        self.inbox = queue.Queue()
        self.pump = threading.Thread(target=self._drain, name="tracker")
        self.pump.start()
        atexit.register(self.finish)

    def scalar(self, step, **values):
        self.inbox.put({"step": step, **values})

    def _drain(self):
        with open(self.path, "a") as f:
            n = 0
            while True:
                item = self.inbox.get()
                if item is None:
                    break
                f.write(json.dumps(item) + "\n")
                n += 1
                if n % self.flush_every == 0:
                    f.flush()

    def finish(self):
        self.inbox.put(None)
        self.pump.join()


class NullTracker:
    def scalar(self, step, **values):
        pass


def make(rank, path):
    return Tracker(path) if rank == 0 else NullTracker()
