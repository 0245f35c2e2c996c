import logging

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

from elastic import resolve_resume_path, step_of

logger = logging.getLogger(__name__)


class CheckpointManager:
    def __init__(self, cfg, model, optimizer):
        self.cfg, self.model, self.optimizer = cfg, model, optimizer

    def _state(self):
        model_state, optim_state = get_state_dict(self.model, self.optimizer)
        return {"model": model_state, "optim": optim_state}

    def save(self, step):
        dcp.save(self._state(), checkpoint_id=str(self.cfg.dir / f"step_{step:06d}"))

    def load(self):
        path = resolve_resume_path(self.cfg)
        if path is None:
            return 0
        state = self._state()
        dcp.load(state, checkpoint_id=str(path))
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["model"],
            optim_state_dict=state["optim"],
        )
        logger.info("resumed from %s", path)
        return step_of(path)
