import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from credit.branches import Branch
from credit.history import History
from credit.scorer import Scorer


class BranchTraining:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        sizes = cfg["applications"]
        self.branch = Branch(self.rank, sizes[self.rank % len(sizes)], cfg["features"], cfg["seed"])
        torch.manual_seed(cfg["seed"])
        self.model = DDP(Scorer(cfg["features"], cfg["hidden"]))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.history = History(cfg["history"]) if self.rank == 0 else None

    def epoch(self, number):
        seen, last = 0, 0.0
        with Join([self.model]):
            for x, y in self.branch.loader(self.cfg["batch_size"], number):
                loss = F.binary_cross_entropy_with_logits(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                seen, last = seen + 1, loss.item()
        return seen, last

    @torch.no_grad()
    def accuracy(self):
        x, y = self.branch.dataset.tensors
        pair = torch.tensor([((self.model.module(x) > 0) == (y > 0.5)).float().sum(), float(len(y))])
        dist.all_reduce(pair)
        return (pair[0] / pair[1]).item()

    def run(self):
        for number in range(self.cfg["epochs"]):
            seen, last = self.epoch(number)
            print(f"branch {self.rank} epoch {number}: {seen} batches, loss {last:.4f}", flush=True)
            score = self.accuracy()
            if self.history:
                self.history.add(epoch=number, accuracy=score, batches=seen)
                print(f"epoch {number} accuracy {score:.3f}", flush=True)
