import os

import torch
import torch.distributed as dist

from train_utils import read_random_states, restore_random_states, save_random_states


class Callback:
    def on_train_begin(self, trainer):
        pass

    def on_train_end(self, trainer):
        pass


class Checkpoint(Callback):
    """Weights by the first rank."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "model.pt")

    def on_train_begin(self, trainer):
        if trainer.resume:
            saved = torch.load(self.path, weights_only=True)
            trainer.model.module.load_state_dict(saved["model"])
            trainer.step = saved["step"]

    def on_train_end(self, trainer):
        if trainer.rank == 0:
            torch.save({"model": trainer.model.module.state_dict(), "step": trainer.step}, self.path)


class RandomStates(Callback):
    """Augmentation goes on where it stopped, on each rank by itself."""

    def __init__(self, folder):
        self.folder = folder

    def on_train_begin(self, trainer):
        if trainer.resume:
            restore_random_states(read_random_states(self.folder, trainer.rank))

    def on_train_end(self, trainer):
        save_random_states(self.folder, trainer.rank)
        dist.barrier()
