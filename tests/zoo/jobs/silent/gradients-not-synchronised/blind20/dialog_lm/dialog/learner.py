import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from dialog.accumulation import Accumulation
from dialog.decoder import Decoder
from dialog.turns import Turns


class Learner:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        dataset = Turns(cfg["turns"], cfg["length"], cfg["vocab"], cfg["seed"])
        self.sampler = DistributedSampler(dataset, seed=cfg["seed"])
        self.loader = DataLoader(dataset, cfg["micro_batch"], sampler=self.sampler, drop_last=True)
        torch.manual_seed(cfg["seed"])
        self.model = DDP(Decoder(cfg["vocab"], cfg["dim"], cfg["heads"], cfg["layers"], cfg["length"]))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg["lr"])
        self.accumulation = Accumulation(self.model, cfg["accumulate"])
        self.updates = 0

    def micro_step(self, inputs, targets):
        with self.accumulation.exchange():
            logits = self.model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten()) / self.cfg["accumulate"]
            loss.backward()
        if self.accumulation.advance():
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.updates += 1
        return loss.item() * self.cfg["accumulate"]

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            losses = [self.micro_step(*batch) for batch in self.loader]
            if self.rank == 0:
                print(f"epoch {epoch} updates {self.updates} loss {sum(losses) / len(losses):.4f}", flush=True)
