import torch
import torch.distributed as dist
import torch.nn.functional as F


class Trainer:
    def __init__(self, cfg, model, rank, callbacks):
        self.cfg, self.model, self.rank, self.callbacks = cfg, model, rank, callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
        self.generator = torch.Generator().manual_seed(cfg.seed + rank)

    def training_step(self, step):
        tokens = torch.randn(self.cfg.tokens, self.cfg.dim, generator=self.generator)
        out, landing = self.model(tokens)
        loss = F.mse_loss(out, landing.data.flip(-1))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        shared = loss.detach().clone()
        dist.all_reduce(shared)
        for callback in self.callbacks:
            callback.on_step_end(self, step, shared.item() / dist.get_world_size(), landing)

    def fit(self):
        for step in range(1, self.cfg.steps + 1):
            self.training_step(step)
