import torch
import torch.distributed as dist
from torch import nn

from desloc_optimizer import DESLOCAdamW


class Regressor(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class DesLocEngine:
    def __init__(self, run_cfg, desloc_cfg, rank):
        torch.manual_seed(run_cfg.seed)
        self.cfg, self.rank = run_cfg, rank
        self.model = Regressor(run_cfg.features)
        for param in self.model.parameters():
            dist.broadcast(param.data, 0)
        self.optimizer = DESLOCAdamW(self.model.parameters(), desloc_cfg)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=run_cfg.init_scale)
        self.losses = []

    def train_batch(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.sync_if_needed()
        self.losses.append(loss.detach())

    def report(self, index):
        mine = torch.stack(self.losses[-self.cfg.log_every :]).mean().reshape(1)
        everyone = [torch.zeros(1) for _ in range(dist.get_world_size())]
        dist.all_gather(everyone, mine)
        if self.rank == 0:
            text = " ".join(f"{v.item():.3f}" for v in everyone)
            print(f"[DESLOC] step {index}/{self.cfg.steps} | loss {text}", flush=True)

    def train(self, stream):
        for index, (x, y) in stream:
            self.train_batch(x, y)
            if index % self.cfg.log_every == 0:
                self.report(index)
