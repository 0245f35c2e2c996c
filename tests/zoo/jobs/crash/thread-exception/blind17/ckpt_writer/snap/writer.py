import queue
import threading
from pathlib import Path

import torch


class BackgroundWriter:
    def __init__(self, root):
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.todo = queue.Queue()
        self.written = []
        self.thread = threading.Thread(target=self._drain, name="snapshots", daemon=True)
        self.thread.start()

    def _drain(self):
        while True:
            item = self.todo.get()
            if item is None:
                return
            tag, score, payload = item
            name = self.root / "{:03d}-{:.3f}.pt".format(tag, score)
            torch.save(payload, name)
            self.written.append((score, name))

    def submit(self, tag, score, payload):
        self.todo.put((tag, score, payload))

    def close(self):
        self.todo.put(None)
        self.thread.join()

    def best(self):
        return min(self.written)[1]
