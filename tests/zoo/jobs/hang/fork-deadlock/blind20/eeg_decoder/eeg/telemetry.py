import json
import threading
import time
from collections import Counter


class Telemetry:
    """Counters of the whole program, sent to the dashboard now and then."""

    def __init__(self):
        self.counters = Counter()
        self.lock = threading.Lock()
        self.sink = None
        self._stop = threading.Event()

    def count(self, name, amount=1):
        with self.lock:
            self.counters[name] += amount

    def start(self, sink, period):
        self.sink = sink
        self.thread = threading.Thread(target=self._loop, args=(period,), daemon=True)
        self.thread.start()

    def _loop(self, period):
        while not self._stop.wait(period):
            self.flush()

    def flush(self):
        with self.lock:
            self.sink.send(json.dumps(self.counters))
            self.counters.clear()

    def stop(self):
        self._stop.set()
        self.thread.join()


class DashboardSink:
    """Stands for an HTTP endpoint with a round trip of some hundred milliseconds."""

    def __init__(self, path, latency):
        self.path, self.latency = path, latency

    def send(self, payload):
        time.sleep(self.latency)
        with open(self.path, "a") as handle:
            handle.write(payload + "\n")


TELEMETRY = Telemetry()
