"""Flags that one rank sets, or that each sets by its own clock."""
import time

import lightning.pytorch as pl
from transformers import TrainerCallback


class Controller(pl.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.is_global_zero and self.asked_to_stop():
            trainer.should_stop = True
        trainer.strategy.barrier()


class StopAfter(TrainerCallback):
    def __init__(self, seconds):
        self.end = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        if time.time() > self.end:
            control.should_training_stop = True
        return control

    def on_epoch_end(self, args, state, control, **kwargs):
        if not state.is_world_process_zero:
            return control
        control.should_evaluate = True
        return control
