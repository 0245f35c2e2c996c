import os
import queue
import threading

import torch


class AsyncCheckpointWriter:
    """Writes snapshots in the background, one after the other."""

    def __init__(self, directory, max_pending=8):
        self.directory = directory
        self._tasks = queue.Queue(maxsize=max_pending)
        self._thread = threading.Thread(target=self._run, name="ckpt-writer", daemon=True)
        self._thread.start()
        self.written = []

    def _run(self):
        while True:
            step, snapshot = self._tasks.get()
            path = os.path.join(self.directory, f"step_{step:06d}.pt")
            torch.save(snapshot, path + ".tmp")
            os.replace(path + ".tmp", path)
            self.written.append(path)
            self._tasks.task_done()

    def submit(self, step, snapshot):
        self._tasks.put((step, snapshot))

    def flush(self, timeout):
        """Gives the writer some seconds for what is left."""
        self._thread.join(timeout)
