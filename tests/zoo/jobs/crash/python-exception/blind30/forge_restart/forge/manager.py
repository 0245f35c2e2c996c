"""Model through distributed checkpoint, the rest as a plain file of rank 0."""
import json
import logging
import shutil
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp

logger = logging.getLogger(__name__)

_TRAIN_STATE_FILE = "train_state.pt"


class CheckpointManager:
    def __init__(self, base_dir, model, scheduler, load_path=None, keep_last_n=2):
        self.base_dir = Path(base_dir)
        self.model, self.scheduler = model, scheduler
        self.load_path = load_path
        self.keep = keep_last_n
        self.rank = dist.get_rank()

    def save(self, step, tokens_seen):
        folder = self.base_dir / f"step_{step}"
        if self.rank == 0:
            folder.mkdir(parents=True, exist_ok=True)
        dist.barrier()
        dcp.save({"model": self.model.state_dict()}, checkpoint_id=str(folder))
        if self.rank == 0:
            state = {"step": step, "tokens_seen": tokens_seen, "scheduler": self.scheduler.state_dict()}
            torch.save(state, folder / _TRAIN_STATE_FILE)
            (folder / "metadata.json").write_text(json.dumps({"step": step, "tokens_seen": tokens_seen}))
            link = self.base_dir / "latest.tmp"
            link.unlink(missing_ok=True)
            link.symlink_to(folder.name)
            link.rename(self.base_dir / "latest")
            self._cleanup()
            logger.info("saved %s", folder)
        dist.barrier()

    def load(self):
        folder = self._resolve()
        if folder is None:
            logger.info("no checkpoint, starting from scratch")
            return 0, 0
        logger.info("loading %s", folder)
        state = {"model": self.model.state_dict()}
        dcp.load(state, checkpoint_id=str(folder))
        self.model.load_state_dict(state["model"])
        rest = [torch.load(folder / _TRAIN_STATE_FILE) if self.rank == 0 else None]
        dist.broadcast_object_list(rest, src=0)
        self.scheduler.load_state_dict(rest[0]["scheduler"])
        return rest[0]["step"], rest[0]["tokens_seen"]

    def _resolve(self):
        found = [None]
        if self.rank == 0:
            for candidate in (self.base_dir / "latest", self.load_path and Path(self.load_path)):
                if candidate and candidate.exists():
                    found = [str(candidate.resolve())]
                    break
        dist.broadcast_object_list(found, src=0)
        return Path(found[0]) if found[0] else None

    def _cleanup(self):
        steps = sorted(self.base_dir.glob("step_*"), key=lambda d: int(d.name.split("_")[1]))
        for old in steps[: -self.keep]:
            shutil.rmtree(old)
