import logging
import os
from pathlib import Path

import torch
import torch.distributed as dist

log = logging.getLogger(__name__)


class CheckpointManager:
    def __init__(self, cfg):
        root = os.environ.get("SCRATCH_ROOT", "scratch")
        node = os.environ.get("NODE_ID", os.environ["LOCAL_RANK"])
        self.dir = Path(root) / cfg["dir"].format(node=node)
        self.latest = cfg["latest"]

    def save(self, state):
        if dist.get_rank() == 0:
            self.dir.mkdir(parents=True, exist_ok=True)
            tmp = self.dir / (self.latest + ".tmp")
            torch.save(state, tmp)
            os.replace(tmp, self.dir / self.latest)
        dist.barrier()

    def load(self):
        path = self.dir / self.latest
        if not path.exists():
            log.warning("no checkpoint at %s, starting from scratch", path)
            return None
        box = [torch.load(path, weights_only=True) if dist.get_rank() == 0 else None]
        dist.broadcast_object_list(box, src=0)
        return box[0]
