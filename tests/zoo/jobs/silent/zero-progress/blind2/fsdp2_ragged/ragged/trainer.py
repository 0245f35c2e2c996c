import torch
import torch.distributed as dist

from ragged.model import Regressor
from ragged.optim import create_optimizer
from ragged.parallel import shard_model


class Trainer:

    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(0)
        model = Regressor(cfg)
        self.num_parameters = sum(p.numel() for p in model.parameters())
        self.optimizer, self.scheduler = create_optimizer(model, cfg)
        self.model = shard_model(model, dist.get_world_size())
        self.generator = torch.Generator().manual_seed(10 + dist.get_rank())

    def batch(self):
        x = torch.randn(self.cfg.batch_size, self.cfg.features, generator=self.generator)
        return x, x[:, :3].prod(1, keepdim=True) + x[:, 3:4]

    def step(self):
        x, y = self.batch()
        loss = torch.nn.functional.huber_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def fit(self):
        window = []
        for i in range(1, self.cfg.steps + 1):
            window.append(self.step())
            if i % self.cfg.log_every == 0:
                mean = torch.stack(window).mean()
                dist.all_reduce(mean)
                window.clear()
                if dist.get_rank() == 0:
                    lr = self.scheduler.get_last_lr()[0]
                    print(f"step {i} loss {mean.item() / dist.get_world_size():.4f} lr {lr:.2e}", flush=True)
