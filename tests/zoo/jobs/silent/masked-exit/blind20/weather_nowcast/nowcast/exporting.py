from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

PRECISIONS = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class ServingExport:
    """Writes the weights in the layout of the forecast service, beside the training."""

    def __init__(self, directory, precision):
        self.directory = Path(directory)
        self.dtype = PRECISIONS[precision]
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")
        self.jobs = {}

    def _write(self, tag, state):
        arrays = {name: value.to(self.dtype).numpy() for name, value in state.items()}
        self.directory.mkdir(parents=True, exist_ok=True)
        np.savez(self.directory / f"{tag}.npz", **arrays)

    def submit(self, tag, model):
        state = {name: value.detach().clone() for name, value in model.state_dict().items()}
        self.jobs[tag] = self.pool.submit(self._write, tag, state)

    def finish(self):
        self.pool.shutdown(wait=True)
        return sorted(self.jobs)
