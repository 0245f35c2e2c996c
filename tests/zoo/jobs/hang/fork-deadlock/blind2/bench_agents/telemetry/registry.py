import collections
import threading


class Registry:
    """Counters of the process, shared by everything that wants to count."""

    def __init__(self):
        self._lock = threading.Lock()
        self._counters = collections.Counter()

    def increment(self, name, by=1):
        with self._lock:
            self._counters[name] += by

    def drain(self, sink):
        with self._lock:
            for name, value in self._counters.items():
                sink.send(name, value)
            self._counters.clear()


registry = Registry()
