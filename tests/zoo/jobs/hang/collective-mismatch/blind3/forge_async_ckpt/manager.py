import json
import os
import shutil

import torch.distributed as dist

from async_save import AsyncCheckpointer


class CheckpointManager:
    def __init__(self, root, cfg, rank):
        self.root, self.cfg, self.rank = root, cfg, rank
        self.checkpointer = AsyncCheckpointer(cfg.mode)

    def _write_train_state(self, folder, train_state):
        with open(folder / "train_state.json", "w") as handle:
            json.dump(train_state, handle, indent=1)
            handle.flush()
            os.fsync(handle.fileno())
        pointer = self.root / "latest.tmp"
        pointer.write_text(folder.name)
        os.replace(pointer, self.root / "latest")

    def _cleanup(self):
        kept = sorted(p for p in self.root.glob("step_*"))
        for folder in kept[: -self.cfg.keep]:
            shutil.rmtree(folder, ignore_errors=True)

    def save(self, step, model, train_state):
        folder = self.root / f"step_{step:06d}"
        folder.mkdir(parents=True, exist_ok=True)
        self.checkpointer.save(model.state_dict(), folder)
        if self.rank == 0:
            self._write_train_state(folder, {"step": step, **train_state})
            self._cleanup()
        dist.barrier()

    def close(self):
        self.checkpointer.wait()
        self.checkpointer.executor.shutdown()
