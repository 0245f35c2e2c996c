import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class OmniTrainer:
    def __init__(self, cfg, save_cfg, checkpointer):
        torch.manual_seed(cfg.seed)
        self.cfg, self.save_cfg, self.checkpointer = cfg, save_cfg, checkpointer
        self.model = DistributedDataParallel(
            nn.Sequential(nn.Linear(cfg.dim, cfg.dim), nn.GELU(), nn.Linear(cfg.dim, 2))
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr)
        self.generator = torch.Generator().manual_seed(cfg.seed + dist.get_rank())

    def train_step(self):
        x = torch.randn(self.cfg.batch_size, self.cfg.dim, generator=self.generator)
        loss = nn.functional.cross_entropy(self.model(x), (x.sum(dim=1) > 0).long())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def save(self, name):
        self.checkpointer.save(name, self.model.module.state_dict())
        if dist.get_rank() == 0:
            print(f"checkpoint {name} is complete", flush=True)

    def train(self):
        for step in range(1, self.cfg.steps + 1):
            self.train_step()
            if step % self.save_cfg.every == 0:
                self.save(f"global_step_{step}")
        self.save("latest")
