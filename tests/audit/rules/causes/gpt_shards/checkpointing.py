import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel as FSDP, StateDictType


def leader():
    return dist.get_rank() == 0


class Checkpointer:
    def __init__(self, folder, every):
        self.folder = folder
        self.every = every

    def consolidate(self, model):
        policy = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
        with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, policy):
            return model.state_dict()  # cause

    def write(self, model, step):
        weights = self.consolidate(model)  # cause
        os.makedirs(self.folder, exist_ok=True)
        torch.save({"model": weights, "step": step}, os.path.join(self.folder, f"step{step:07d}.pt"))

    def after_step(self, model, step):
        if step % self.every:
            return
        if leader():  # cause
            self.write(model, step)  # cause
