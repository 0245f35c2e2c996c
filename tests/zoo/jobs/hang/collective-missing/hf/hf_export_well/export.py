import os

import torch
import torch.distributed as dist
from transformers import TrainerCallback


class ExportCallback(TrainerCallback):
    """Exports the weights after each epoch for the inference team."""

    def __init__(self, folder):
        self.folder = folder

    def on_epoch_end(self, args, state, control, model=None, **kwargs):
        if state.is_world_process_zero and state.epoch >= 2:
            self.export(model, int(state.epoch))
        if dist.is_initialized():
            dist.barrier()

    def export(self, model, epoch):
        os.makedirs(self.folder, exist_ok=True)
        weights = {name: p.detach().half() for name, p in model.named_parameters()}
        torch.save(weights, f"{self.folder}/epoch{epoch}.pt")
