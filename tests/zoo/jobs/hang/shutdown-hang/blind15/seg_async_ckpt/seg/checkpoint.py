import copy
import logging
import os
import queue
import threading

import torch

log = logging.getLogger("seg.checkpoint")


class BackgroundWriter:
    """Writes snapshots without holding up the training loop."""

    def __init__(self, folder, keep=2):
        self.folder, self.keep = folder, keep
        self._jobs = queue.Queue(maxsize=4)
        self._written = []
        self._thread = None

    def _ensure_running(self):
        if self._thread is None:
            os.makedirs(self.folder, exist_ok=True)
            self._thread = threading.Thread(target=self._drain, name="ckpt-writer")
            self._thread.start()

    def submit(self, state, tag):
        self._ensure_running()
        self._jobs.put((copy.deepcopy(state), tag))

    def _drain(self):
        while True:
            job = self._jobs.get()
            if job is None:
                break
            state, tag = job
            path = os.path.join(self.folder, f"{tag}.pt")
            torch.save(state, path)
            self._written.append(path)
            for old in self._written[:-self.keep]:
                os.remove(old)
            self._written = self._written[-self.keep:]
            log.info("wrote %s", path)

    def close(self):
        self._jobs.put(None)
        self._thread.join()
