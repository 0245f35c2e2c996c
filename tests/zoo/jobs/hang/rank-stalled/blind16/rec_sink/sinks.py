import json
import queue
import threading


class JsonlSink:
    def __init__(self, path):
        self.fh = open(path, "w")

    def write(self, row):
        self.fh.write(json.dumps(row) + "\n")
        self.fh.flush()


class HistogramSink:
    """Bins the popularity of recommended items on a log scale."""

    def __init__(self, bins=12):
        self.bins = bins
        self.counts = [0] * bins

    def write(self, row):
        for v in row.get("pop", ()):
            b = int(v).bit_length()
            self.counts[b] += 1


class MetricBus:
    def __init__(self, sinks, depth=64):
        self.sinks = sinks
        self.q = queue.Queue(maxsize=depth)
        self.t = threading.Thread(target=self._drain, name="metric-bus", daemon=True)
        self.t.start()

    def _drain(self):
        while True:
            row = self.q.get()
            if row is None:
                return
            for s in self.sinks:
                s.write(row)

    def emit(self, **row):
        self.q.put(row)

    def close(self):
        self.q.put(None)
        self.t.join()


class NullBus:
    def emit(self, **row):
        pass

    def close(self):
        pass
