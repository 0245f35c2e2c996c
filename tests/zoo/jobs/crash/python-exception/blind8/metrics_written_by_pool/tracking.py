import json
import tempfile
from concurrent.futures import ThreadPoolExecutor


class Tracker:
    def __init__(self, enabled):
        self.enabled = enabled
        self.pending = []
        if enabled:
            self.file = tempfile.TemporaryFile("w+")
            self.pool = ThreadPoolExecutor(1, thread_name_prefix="tracker")

    def log(self, row):
        if self.enabled:
            self.pending.append(self.pool.submit(self._write, row))

    def _write(self, row):
        self.file.write(json.dumps(row) + "\n")

    def flush(self):
        for future in self.pending:
            future.result()
        self.pending.clear()
        if self.enabled:
            self.file.flush()
            print(f"tracker: {self.file.tell()} bytes", flush=True)
