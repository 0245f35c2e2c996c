import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from lesion.net import LesionNet
from lesion.registry import ScanRegistry
from lesion.sampler import BalancedBatchSampler
from lesion.volumes import VolumeDataset


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        records = ScanRegistry(cfg).shard(self.rank, self.world)
        self.sampler = BalancedBatchSampler(records, cfg["batch_size"], cfg["positive_share"],
                                            cfg["batches"], cfg["seed"] + self.rank)
        self.loader = DataLoader(VolumeDataset(records, cfg["size"]), batch_sampler=self.sampler)
        torch.manual_seed(cfg["seed"])
        self.model = DDP(LesionNet(cfg["width"]))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg["lr"])

    def epoch(self, epoch):
        self.sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for volumes, labels in self.loader:
            loss = F.binary_cross_entropy_with_logits(self.model(volumes), labels.float())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        return total.item() / self.world / len(self.loader)

    def run(self):
        for epoch in range(self.cfg["epochs"]):
            loss = self.epoch(epoch)
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    with open("config.yaml") as handle:
        config = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    Trainer(config).run()
    dist.barrier()
    dist.destroy_process_group()
