import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from protein.model import StabilityModel
from protein.sequences import StabilityAssay
from protein.state import RunState


class Finetune:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        torch.manual_seed(cfg["seed"])
        net = StabilityModel(cfg["length"], cfg["dim"])
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=cfg["lr"])
        self.state = RunState(net, self.optimizer)
        if cfg["init_from"]:
            self.state.load(cfg["init_from"])
        self.model = DDP(net)
        assay = StabilityAssay(cfg["variants"], cfg["length"], cfg["seed"], cfg["shift"])
        self.sampler = DistributedSampler(assay, seed=cfg["seed"])
        self.loader = DataLoader(assay, cfg["batch_size"], sampler=self.sampler, drop_last=True)

    def fit(self):
        for epoch in range(self.state.next_epoch, self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            for sequences, stability in self.loader:
                loss = F.mse_loss(self.model(sequences), stability)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
            self.state.next_epoch = epoch + 1
        if self.rank == 0:
            self.state.save(self.cfg["output"])
            print("finetuned model in", self.cfg["output"], flush=True)
