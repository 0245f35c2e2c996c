import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from composer.state import State


def prepare_fully_shard(model, world_size):
    mesh = init_device_mesh("cpu", (world_size,))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


class Trainer:

    def __init__(self, model, dataloader, world_size, max_epochs=4, lr=1e-2, loggers=()):
        model = prepare_fully_shard(model, world_size)
        self.dataloader = dataloader
        self.loggers = list(loggers)
        self.state = State(model, torch.optim.AdamW(model.parameters(), lr=lr), max_epochs)

    def _event(self, name):
        for logger in self.loggers:
            getattr(logger, name)(self.state)

    def fit(self):
        state = self.state
        for state.epoch in range(state.max_epochs):
            for x, y in self.dataloader:
                state.batch += 1
                loss = torch.nn.functional.mse_loss(state.model(x), y)
                loss.backward()
                state.optimizer.step()
                state.optimizer.zero_grad()
                state.loss = loss.detach()
                self._event("batch_end")
            self._event("epoch_end")
        for logger in self.loggers:
            logger.close()
