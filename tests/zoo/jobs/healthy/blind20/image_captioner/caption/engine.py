import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from caption.average import WeightAverage
from caption.network import Captioner
from caption.pairs import CaptionPairs
from caption.stopping import EarlyStop


class Engine:
    def __init__(self, cfg):
        self.cfg, self.main = cfg, dist.get_rank() == 0
        make = lambda count, seed: CaptionPairs(count, cfg["features"], cfg["words"], seed)
        train_set = make(cfg["train_pairs"], cfg["seed"])
        self.sampler = DistributedSampler(train_set, seed=cfg["seed"])
        self.loader = DataLoader(train_set, cfg["batch_size"], sampler=self.sampler, drop_last=True)
        self.val_loader = DataLoader(make(cfg["val_pairs"], cfg["seed"] + 1), 8) if self.main else None
        torch.manual_seed(cfg["seed"])
        self.model = DDP(Captioner(cfg["features"], cfg["words"], cfg["width"]).train())
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=cfg["lr"])
        steps = cfg["epochs"] * len(self.loader)
        ramp = lambda s: min(s / cfg["warmup"], max(0.0, (steps - s) / (steps - cfg["warmup"])))
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, ramp)
        self.average = WeightAverage(self.model.module, cfg["decay"]) if self.main else None
        self.stop = EarlyStop(cfg["patience"])

    @staticmethod
    def loss(logits, captions):
        return F.cross_entropy(logits.flatten(0, 1), captions.flatten())

    @torch.no_grad()
    def validate(self):
        losses = [self.loss(self.average.model(x), y).item() for x, y in self.val_loader]
        return sum(losses) / len(losses)

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            for images, captions in self.loader:
                loss = self.loss(self.model(images), captions)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                if self.main:
                    self.average.update(self.model.module)
            value = self.validate() if self.main else None
            if self.main:
                print(f"epoch {epoch} train {loss.item():.4f} val {value:.4f}", flush=True)
            if self.stop.decide(value):
                break
        if self.main:
            torch.save(self.average.model.state_dict(), self.cfg["output"])
