import enum

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Stage(enum.Enum):
    TRAIN = 1
    VALID = 2
    TEST = 3


def run_on_main(func, args=(), post_func=None):
    """Runs func on rank 0 while the others wait, then post_func where given."""
    if dist.get_rank() == 0:
        func(*args)
    dist.barrier()
    if post_func is not None:
        post_func()


class Brain:

    def __init__(self, modules, hparams, checkpointer=None):
        self.hparams, self.checkpointer = hparams, checkpointer
        self.modules = DDP(modules)
        self.optimizer = torch.optim.Adam(self.modules.parameters(), lr=hparams["lr"])

    def compute_forward(self, batch, stage):
        raise NotImplementedError

    def compute_objectives(self, predictions, batch, stage):
        raise NotImplementedError

    def on_stage_end(self, stage, stage_loss, epoch):
        pass

    def fit_batch(self, batch):
        loss = self.compute_objectives(self.compute_forward(batch, Stage.TRAIN), batch, Stage.TRAIN)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate_batch(self, batch, stage):
        return self.compute_objectives(self.compute_forward(batch, stage), batch, stage).item()

    def _fit_train(self, train_set, epoch):
        self.modules.train()
        train_set.sampler.set_epoch(epoch)
        losses = [self.fit_batch(batch) for batch in train_set]
        self.on_stage_end(Stage.TRAIN, sum(losses) / len(losses), epoch)

    def _fit_valid(self, valid_set, epoch):
        self.modules.eval()
        losses = [self.evaluate_batch(batch, Stage.VALID) for batch in valid_set]
        self.on_stage_end(Stage.VALID, sum(losses) / len(losses), epoch)

    def fit(self, epoch_counter, train_set, valid_set):
        for epoch in epoch_counter:
            self._fit_train(train_set, epoch)
            self._fit_valid(valid_set, epoch)

    def evaluate(self, test_set):
        run_on_main(self.checkpointer.recover_if_possible)
        losses = [self.evaluate_batch(batch, Stage.TEST) for batch in test_set]
        self.on_stage_end(Stage.TEST, sum(losses) / len(losses), None)
