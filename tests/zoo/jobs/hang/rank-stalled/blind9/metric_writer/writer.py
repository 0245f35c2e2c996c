import json
import queue
import threading


class MetricWriter:
    def __init__(self, path, maxsize=32):
        self.queue = queue.Queue(maxsize)
        self.file = open(path, "w")
        self.thread = threading.Thread(target=self._drain, name="metrics", daemon=True)
        self.thread.start()

    def log(self, **row):
        self.queue.put(row)

    def _drain(self):
        while True:
            row = self.queue.get()
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()
