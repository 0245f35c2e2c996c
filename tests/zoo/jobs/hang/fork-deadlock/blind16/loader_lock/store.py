import threading
import time

import torch


class FeatureStore:
    def __init__(self, n):
        self.lock = threading.Lock()
        self.rows = torch.randn(n, 20, generator=torch.Generator().manual_seed(1))
        self.hits = 0
        self.stop = threading.Event()
        threading.Thread(target=self._report, daemon=True).start()

    def _report(self):
        while not self.stop.is_set():
            with self.lock:
                self._snapshot()
            time.sleep(0.01)

    def _snapshot(self):
        deadline = time.monotonic() + 0.4
        while time.monotonic() < deadline:
            time.sleep(0.02)

    def get(self, i):
        with self.lock:
            self.hits += 1
            return self.rows[i]
