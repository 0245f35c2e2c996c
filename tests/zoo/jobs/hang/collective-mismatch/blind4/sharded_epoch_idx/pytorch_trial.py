"""The controller of a trial: runs batches, and callbacks at the ends of epochs."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class PyTorchCallback:
    def on_training_epoch_end(self, epoch_idx):
        pass


class ReduceMetrics(PyTorchCallback):
    """Gathers what each slot measured in the epoch."""

    def __init__(self):
        self.losses = []
        self.history = []

    def on_training_epoch_end(self, epoch_idx):
        gathered = [None] * dist.get_world_size()
        dist.all_gather_object(gathered, self.losses)
        flat = [loss for losses in gathered for loss in losses]
        self.history.append((epoch_idx, sum(flat) / max(1, len(flat))))
        self.losses = []


class PyTorchTrialController:
    def __init__(self, trial, sampler, callbacks):
        self.trial = trial
        self.sampler = sampler
        self.callbacks = callbacks
        self.model = DistributedDataParallel(trial.build_model())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.epoch_idx = 0

    def get_epoch_idx(self, batch_id):
        return batch_id // len(self.sampler)

    def run(self, total_batches):
        for batch_id, indices in enumerate(self.sampler):
            if batch_id == total_batches:
                break
            epoch_idx = self.get_epoch_idx(batch_id)
            if epoch_idx != self.epoch_idx:
                for callback in self.callbacks:
                    callback.on_training_epoch_end(self.epoch_idx)
                self.epoch_idx = epoch_idx
            loss = self.trial.train_batch(self.model, self.optimizer, indices)
            for callback in self.callbacks:
                if isinstance(callback, ReduceMetrics):
                    callback.losses.append(loss)
