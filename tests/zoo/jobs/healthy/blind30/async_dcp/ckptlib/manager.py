"""Asynchronous sharded checkpoints beside a running training."""
import json
import logging
import shutil
from pathlib import Path

import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

logger = logging.getLogger(__name__)


class AsyncManager:
    """The saving thread and the closing barrier have groups of their own."""

    def __init__(self, folder, model, optimizer, keep=2):
        self.folder = Path(folder)
        self.model, self.optimizer, self.keep = model, optimizer, keep
        self.rank = dist.get_rank()
        self.save_group = dist.new_group(backend="gloo")
        self.sync_group = dist.new_group(backend="gloo")
        self.pending = None

    def _state(self):
        model, optim = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optim": optim}

    def _finish(self):
        if self.pending is None:
            return
        step, future = self.pending
        self.pending = None
        future.result()
        if self.rank == 0:
            (self.folder / "latest.json").write_text(json.dumps({"step": step}))
            done = sorted((d for d in self.folder.glob("step_*")), key=lambda d: int(d.name[5:]))
            for old in done[: -self.keep]:
                shutil.rmtree(old)
            logger.info("step %d is on disk", step)

    def save(self, step):
        self._finish()
        dist.barrier(group=self.sync_group)
        future = dcp.async_save(
            self._state(), checkpoint_id=str(self.folder / f"step_{step}"), process_group=self.save_group
        )
        self.pending = (step, future)

    def close(self):
        self._finish()
        dist.barrier(group=self.sync_group)

    def load(self):
        found = [None]
        marker = self.folder / "latest.json"
        if self.rank == 0 and marker.exists():
            found = [json.loads(marker.read_text())["step"]]
        dist.broadcast_object_list(found, src=0, group=self.sync_group)
        if found[0] is None:
            return 0
        state = self._state()
        dcp.load(state, checkpoint_id=str(self.folder / f"step_{found[0]}"), process_group=self.save_group)
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optim"])
        return found[0]
