import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, Subset

from mol.graphs import SCAFFOLDS, ScaffoldGraphs, scaffold_split
from mol.metrics import PerClassAccuracy
from mol.net import ScaffoldNet


class Pretraining:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        dataset = ScaffoldGraphs(cfg["graphs"], cfg["atoms"], cfg["seed"], cfg["weights"])
        train, val = scaffold_split(dataset, cfg["val_fraction"])
        share = len(val) // self.world
        mine = val[self.rank * share:(self.rank + 1) * share]
        train_set = Subset(dataset, train.tolist())
        self.sampler = DistributedSampler(train_set, self.world, self.rank, seed=cfg["seed"])
        self.train_loader = DataLoader(train_set, cfg["batch_size"], sampler=self.sampler, drop_last=True)
        self.val_loader = DataLoader(Subset(dataset, mine.tolist()), cfg["batch_size"])
        torch.manual_seed(cfg["seed"])
        self.model = DDP(ScaffoldNet(cfg["width"], len(SCAFFOLDS)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg["lr"])

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            for feats, adj, labels in self.train_loader:
                loss = F.cross_entropy(self.model(feats, adj), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)

    @torch.no_grad()
    def test(self):
        metric = PerClassAccuracy()
        self.model.eval()
        for feats, adj, labels in self.val_loader:
            metric.update(self.model.module(feats, adj).argmax(1), labels)
        return {SCAFFOLDS[k]: round(v, 3) for k, v in metric.compute().items()}
