import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from callbacks import EarlyStop, History
from tabular import TabularNet, make_tables


def read_conf(path):
    conf = {}
    for line in open(path):
        key, _, value = line.strip().partition(":")
        if key:
            conf[key] = eval(value, {"__builtins__": {}})
    return conf


class Trainer:
    def __init__(self, conf, callbacks):
        self.conf, self.callbacks = conf, callbacks
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.train_set, self.valid_set = make_tables(conf)
        torch.manual_seed(conf["seed"] + self.rank)
        self.model = DistributedDataParallel(TabularNet(conf))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=conf["lr"], weight_decay=conf["weight_decay"])
        self.sampler = DistributedSampler(self.train_set, self.world, self.rank)
        self.train_loader = DataLoader(self.train_set, conf["batch_size"], sampler=self.sampler, drop_last=True)
        share = torch.utils.data.Subset(self.valid_set, range(self.rank, len(self.valid_set), self.world))
        self.valid_loader = DataLoader(share, 200)
        self.state = {"epoch": 0, "stop": False, "save": False, "best_epoch": 0}
        self.best = None

    def train_epoch(self):
        self.model.train()
        for numeric, cats, label in self.train_loader:
            loss = F.binary_cross_entropy_with_logits(self.model(numeric, cats), label)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        sums = torch.zeros(3, dtype=torch.double)
        for numeric, cats, label in self.valid_loader:
            logit = self.model.module(numeric, cats)
            sums[0] += F.binary_cross_entropy_with_logits(logit, label, reduction="sum")
            sums[1] += ((logit > 0) == label.bool()).sum()
            sums[2] += len(label)
        dist.all_reduce(sums)
        return {"eval_loss": (sums[0] / sums[2]).item(), "eval_acc": (sums[1] / sums[2]).item()}

    def fit(self):
        for epoch in range(self.conf["max_epochs"]):
            self.state.update(epoch=epoch, save=False)
            self.sampler.set_epoch(epoch)
            loss = self.train_epoch()
            metrics = self.evaluate()
            for cb in self.callbacks:
                cb.on_evaluate(self.state, metrics)
            if self.state["save"]:
                self.best = {k: v.clone() for k, v in self.model.module.state_dict().items()}
            if self.rank == 0:
                print(f"epoch {epoch:2d} loss {loss:.4f} eval loss {metrics['eval_loss']:.4f} "
                      f"acc {metrics['eval_acc']:.4f}", flush=True)
            if self.state["stop"]:
                break
        self.model.module.load_state_dict(self.best)
        final = self.evaluate()
        if self.rank == 0:
            print(f"stopped after epoch {epoch}, best {self.state['best_epoch']}: {final}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    conf = read_conf(sys.argv[1])
    Trainer(conf, [History(), EarlyStop(conf["patience"], conf["min_delta"])]).fit()
    dist.destroy_process_group()
