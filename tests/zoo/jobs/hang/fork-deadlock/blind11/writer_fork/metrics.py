import json
import tempfile
import threading
import time


class MetricWriter:
    """Collects numbers and writes them from a thread so that training does not wait."""

    def __init__(self, interval=0.05):
        self.lock = threading.Lock()
        self.pending = []
        self.file = tempfile.TemporaryFile("w")
        self.interval = interval
        threading.Thread(target=self.loop, name="metric-writer", daemon=True).start()

    def loop(self):
        while True:
            with self.lock:
                for item in self.pending:
                    self.file.write(json.dumps(item) + "\n")
                self.pending.clear()
                self.file.flush()
                time.sleep(self.interval)
            time.sleep(0.0005)

    def add(self, name, value):
        with self.lock:
            self.pending.append((name, value))


class NullWriter:
    def add(self, name, value):
        pass
