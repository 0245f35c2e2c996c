import json
import os
from concurrent.futures import ThreadPoolExecutor

import torch


class AsyncCheckpointer:
    def __init__(self, folder):
        self.folder = folder
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ckpt")
        self.pending = None

    def _write(self, step, tensors, meta):
        path = os.path.join(self.folder, f"step_{step}")
        os.makedirs(path, exist_ok=True)
        torch.save(tensors, os.path.join(path, "model.pt"))
        with open(os.path.join(path, "metadata.json"), "w") as f:
            json.dump(meta, f)

    def save(self, step, model, meta):
        self.wait()
        tensors = {k: v.detach().clone() for k, v in model.state_dict().items()}
        self.pending = self.pool.submit(self._write, step, tensors, dict(meta))

    def wait(self):
        if self.pending is not None:
            self.pending.result()
            self.pending = None
