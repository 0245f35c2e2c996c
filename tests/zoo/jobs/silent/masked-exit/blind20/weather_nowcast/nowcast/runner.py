import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from nowcast.exporting import ServingExport
from nowcast.model import NowcastNet
from nowcast.radar_series import RainSequences


class Runner:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        d = cfg["data"]
        dataset = RainSequences(d["sequences"], d["grid"], d["frames"], cfg["seed"])
        self.sampler = DistributedSampler(dataset, seed=cfg["seed"])
        self.loader = DataLoader(dataset, d["batch_size"], sampler=self.sampler, drop_last=True)
        torch.manual_seed(cfg["seed"])
        self.model = DDP(NowcastNet(d["frames"], cfg["model"]["width"]))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg["optim"]["lr"])
        self.export = ServingExport(**cfg["export"]) if self.rank == 0 else None

    def fit(self):
        best = float("inf")
        for epoch in range(self.cfg["optim"]["epochs"]):
            self.sampler.set_epoch(epoch)
            total = torch.zeros(1)
            for frames, target in self.loader:
                loss = F.mse_loss(self.model(frames), target)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.detach()
            dist.all_reduce(total)
            mean = total.item() / len(self.loader) / dist.get_world_size()
            if self.export and mean < best:
                best = mean
                self.export.submit(f"nowcast-{epoch:02d}", self.model.module)
                print(f"epoch {epoch} loss {mean:.5f} (new best)", flush=True)
        if self.export:
            print("exported", ", ".join(self.export.finish()), flush=True)
