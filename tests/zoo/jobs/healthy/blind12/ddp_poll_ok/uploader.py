import json
import os
import queue
import tempfile
import threading

DONE = object()


class MetricUploader:
    """Ships metrics to disk from a thread so that training does not wait for the file system."""

    def __init__(self, path=None):
        self.path = path or os.path.join(tempfile.mkdtemp(), "metrics.jsonl")
        self.queue = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def log(self, **row):
        self.queue.put(row)

    def _run(self):
        with open(self.path, "a") as out:
            while (row := self.queue.get()) is not DONE:
                out.write(json.dumps(row) + "\n")
                out.flush()

    def close(self):
        self.queue.put(DONE)
        self.thread.join()
