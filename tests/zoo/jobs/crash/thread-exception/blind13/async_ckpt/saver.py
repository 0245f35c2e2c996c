import os
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor

import torch


class AsyncSaver:
    """Rank 0 writes in the background, the others go on as soon as the file is there."""

    def __init__(self, cfg, rank, tag):
        self.cfg, self.rank = cfg, rank
        self.folder = pathlib.Path(cfg.out) / tag
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pool = ThreadPoolExecutor(1)

    def _write(self, state, path):
        part = path.with_suffix(".part")
        torch.save(state, part)
        os.replace(part, path)

    def save(self, step, model, opt):
        path = self.folder / f"step{step}.pt"
        if self.rank == 0:
            state = {"step": step, "model": {k: v.clone() for k, v in model.state_dict().items()},
                     "opt": opt.state_dict(), "config": self.cfg}
            self.pool.submit(self._write, state, path)
        else:
            self._wait(path)

    @staticmethod
    def _wait(path, every=0.2):
        while not path.exists():
            time.sleep(every)
