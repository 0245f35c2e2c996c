import threading
import time


class Cache:
    def __init__(self):
        self.lock = threading.RLock()
        self.rows = {i: [float(i)] * 4 for i in range(8)}

    def get(self, i):
        with self.lock:
            return self.rows[i]

    def refresh_in_background(self, slow):
        began = threading.Event()
        threading.Thread(target=self._refresh, args=(began, 4 if slow else 0.01), daemon=True).start()
        began.wait()

    def _refresh(self, began, seconds):
        with self.lock:
            began.set()
            time.sleep(seconds)  # reads the file anew
            self.rows = {i: [i / 2] * 4 for i in range(8)}
