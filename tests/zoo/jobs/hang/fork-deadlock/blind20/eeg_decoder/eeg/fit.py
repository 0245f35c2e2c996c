import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from eeg.decoder import ShallowConvNet
from eeg.recordings import MotorImagery


class Fit:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        dataset = MotorImagery(cfg["trials"], cfg["channels"], cfg["samples"], cfg["seed"])
        self.sampler = DistributedSampler(dataset, seed=cfg["seed"])
        self.loader = DataLoader(dataset, cfg["batch_size"], sampler=self.sampler,
                                 num_workers=cfg["workers"], drop_last=True)
        torch.manual_seed(cfg["seed"])
        self.model = DDP(ShallowConvNet(cfg["channels"], cfg["filters"], 2))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])

    def run(self):
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            for signals, labels in self.loader:
                loss = F.cross_entropy(self.model(signals), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
