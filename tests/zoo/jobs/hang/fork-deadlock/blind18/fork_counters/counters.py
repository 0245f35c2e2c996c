import collections
import gzip
import json
import threading
import time


class Counters:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = collections.Counter()

    def bump(self, name, by=1):
        with self.lock:
            self.values[name] += by

    def dump(self, path, settle):
        with self.lock:
            payload = json.dumps(self.values).encode()
            with gzip.open(path, "wb") as f:
                f.write(payload)
            time.sleep(settle)
            self.values.clear()


COUNTERS = Counters()


class Reporter(threading.Thread):
    def __init__(self, path, period, settle):
        super().__init__(daemon=True, name="reporter")
        self.path, self.period, self.settle = path, period, settle

    def run(self):
        while True:
            COUNTERS.dump(self.path, self.settle)
            time.sleep(self.period)
