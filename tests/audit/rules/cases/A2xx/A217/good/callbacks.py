"""All ranks agree, or decide by what is the same on all of them."""
import time

import lightning.pytorch as pl
import torch
import torch.distributed as dist
from transformers import TrainerCallback


class Controller(pl.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.is_global_zero and self.asked_to_stop():
            trainer.should_stop = True
        trainer.should_stop = trainer.strategy.reduce_boolean_decision(trainer.should_stop, all=False)


class StopAfter(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        over = torch.tensor([float(time.time() > self.end)])
        dist.broadcast(over, src=0)
        if over.item():
            control.should_training_stop = True
        return control

    def on_epoch_end(self, args, state, control, **kwargs):
        if state.epoch >= 3:
            control.should_training_stop = True
        return control


class Alone:
    def tick(self, trainer):
        if trainer.world_size == 1 and time.time() > self.end:
            self.should_stop = True
