import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from recsys.timing import TimeBudget
from recsys.towers import TwoTower


class Trainer:
    def __init__(self, cfg, catalog):
        self.cfg, self.catalog = cfg, catalog
        self.rank = dist.get_rank()
        self.budget = TimeBudget(cfg.max_seconds)
        torch.manual_seed(cfg.seed)
        self.model = DDP(TwoTower(cfg.users, cfg.items, cfg.dim))
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=cfg.lr)
        self.generator = torch.Generator().manual_seed(cfg.seed + 1 + self.rank)
        self.step = 0

    def training_step(self):
        users, items = self.catalog.clicks(self.cfg.batch_size, self.generator)
        loss = F.cross_entropy(self.model(users, items), torch.arange(len(users)))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self):
        running = 0.0
        while self.step < self.cfg.max_steps:
            if self.budget.expired():
                break
            running = 0.98 * running + 0.02 * self.training_step().item()
            self.step += 1
            if self.step % self.cfg.log_every == 0 and self.rank == 0:
                print(f"step {self.step} loss {running:.4f} left {self.budget.left():.1f}s", flush=True)

    @torch.no_grad()
    def recall(self):
        dist.barrier()
        generator = torch.Generator().manual_seed(self.cfg.seed + 99)
        users, items = self.catalog.clicks(512, generator)
        logits = self.model.module(users, torch.arange(self.cfg.items))
        hits = (logits.topk(20, dim=1).indices == items[:, None]).any(1).float().sum()
        dist.all_reduce(hits)
        return hits.item() / (len(users) * dist.get_world_size())
