import collections
import json
import os
import tempfile
import threading


class MetricUploader:
    """Ships metrics to disk from a thread so that training does not wait for the file system."""

    def __init__(self, path=None):
        self.path = path or os.path.join(tempfile.mkdtemp(), "metrics.jsonl")
        self.queue = collections.deque()
        self.closing = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def log(self, **row):
        self.queue.append(row)

    def _run(self):
        with open(self.path, "a") as out:
            while not self.closing:
                if self.queue:
                    out.write(json.dumps(self.queue.popleft()) + "\n")
                    out.flush()

    def close(self):
        while self.queue:
            pass
        self.closing = True
        self.thread.join()
