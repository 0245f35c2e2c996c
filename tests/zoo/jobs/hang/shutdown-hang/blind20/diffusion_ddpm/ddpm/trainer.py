from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from ddpm.data import loader
from ddpm.denoiser import Denoiser
from ddpm.schedule import NoiseSchedule
from ddpm.uploads import ArtifactUploader, NullUploader


class DiffusionTrainer:
    def __init__(self, cfg):
        self.cfg, self.main = cfg, dist.get_rank() == 0
        self.loader, self.schedule = loader(cfg), NoiseSchedule(cfg["noise_steps"])
        torch.manual_seed(cfg["seed"])
        self.model = DDP(Denoiser(2, cfg["width"], cfg["noise_steps"]))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg["lr"])
        self.uploader = ArtifactUploader(cfg["remote"]) if self.main else NullUploader()
        self.out = Path(cfg["out"])
        self.out.mkdir(exist_ok=True)
        self.step = 0
        torch.manual_seed(cfg["seed"] + 1 + dist.get_rank())

    def training_step(self, x):
        t = torch.randint(self.schedule.steps, (len(x),))
        noise = torch.randn_like(x)
        loss = F.mse_loss(self.model(self.schedule.corrupt(x, t, noise), t), noise)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def checkpoint(self):
        if self.main:
            path = self.out / f"step{self.step:06d}.pt"
            torch.save(self.model.module.state_dict(), path)
            self.uploader.submit(path)

    def fit(self):
        for epoch in range(self.cfg["max_epochs"]):
            self.loader.sampler.set_epoch(epoch)
            for (x,) in self.loader:
                loss = self.training_step(x)
                self.step += 1
                if self.step % self.cfg["save_every"] == 0:
                    self.checkpoint()
                if self.step == self.cfg["max_steps"]:
                    return loss
            if self.main:
                print(f"epoch {epoch} step {self.step} loss {loss:.4f}", flush=True)
        self.uploader.close()
        return loss
