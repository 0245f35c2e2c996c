import copy
import os
from concurrent.futures import ThreadPoolExecutor

import torch


class AsyncCheckpointer:
    """Writes states in the background, one at a time."""

    def __init__(self, folder):
        self.folder = folder
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")
        self.save_future = None

    def wait_for_pending_save(self):
        if self.save_future is not None:
            self.save_future.result()
            self.save_future = None

    def save(self, state, step):
        self.wait_for_pending_save()
        self.save_future = self.executor.submit(self._write, copy.copy(state), step)

    def _write(self, state, step):
        os.makedirs(self.folder, exist_ok=True)
        partial = os.path.join(self.folder, f".step-{step}.partial")
        try:
            torch.save(state, partial)
            os.replace(partial, os.path.join(self.folder, f"step-{step}.pt"))
        finally:
            if os.path.exists(partial):
                os.remove(partial)
