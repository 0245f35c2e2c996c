import sys

import torch
import torch.distributed as dist
from torch import nn

from recipes.brain import Brain, Stage
from recipes.epoch_loop import EpochCounterWithStopper
from recipes.speaker_data import DIM, prepare

hparams = {
    "lr": 5e-3,
    "batch_size": 32,
    "number_of_epochs": 12,
    "limit_to_stop": 3,
    "limit_warmup": 1,
}


class Checkpointer:

    def __init__(self):
        self.best = None

    def save(self, modules, loss):
        if self.best is None or loss < self.best[0]:
            self.best = (loss, {k: v.clone() for k, v in modules.state_dict().items()})

    def recover_if_possible(self):
        if self.best is not None:
            print(f"best valid loss {self.best[0]:.4f}", flush=True)


class SpeakerBrain(Brain):

    def compute_forward(self, batch, stage):
        module = self.modules if stage == Stage.TRAIN else self.modules.module
        return module(batch[0])

    def compute_objectives(self, predictions, batch, stage):
        return nn.functional.cross_entropy(predictions, batch[1])

    def on_stage_end(self, stage, stage_loss, epoch):
        if stage == Stage.TRAIN:
            self.train_loss = stage_loss
        elif stage == Stage.VALID:
            epoch_counter.update_metric(stage_loss)
            self.checkpointer.save(self.modules.module, stage_loss)
            if dist.get_rank() == 0:
                print(f"epoch {epoch} train {self.train_loss:.4f} valid {stage_loss:.4f}", flush=True)
        elif dist.get_rank() == 0:
            print(f"test {stage_loss:.4f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(1986)
    epoch_counter = EpochCounterWithStopper(
        hparams["number_of_epochs"], hparams["limit_to_stop"], hparams["limit_warmup"]
    )
    train_set, valid_set, test_set = prepare(hparams["batch_size"])
    modules = nn.Sequential(nn.Linear(DIM, 32), nn.ReLU(), nn.Linear(32, 2))
    brain = SpeakerBrain(modules, hparams, Checkpointer())
    brain.fit(epoch_counter, train_set, valid_set)
    brain.evaluate(test_set)
    dist.destroy_process_group()
    sys.exit(0)
