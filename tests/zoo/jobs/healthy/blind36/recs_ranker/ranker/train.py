import argparse
import json
import shutil
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from .gather import gather_all_tensors
from .metrics import average_precision, bootstrap
from .stopping import EarlyStopper


def make_set(n, features, seed):
    g = torch.Generator().manual_seed(seed)
    weight = torch.randn(features, generator=torch.Generator().manual_seed(0))
    x = torch.randn(n, features, generator=g)
    y = (x @ weight / features**0.5 + 0.5 * torch.randn(n, generator=g) > 0.8).float()
    return x, y


class Scorer(nn.Module):
    def __init__(self, features, dropout):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(dropout), nn.Linear(48, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.folder = Path(args.folder)
        self.train_set = TensorDataset(*make_set(1200, args.features, 1))
        self.valid_x, self.valid_y = make_set(411, args.features, 2)
        self.sampler = DistributedSampler(self.train_set, seed=4)
        self.loader = DataLoader(self.train_set, args.batch_size, sampler=self.sampler, drop_last=True)
        self.model = DDP(Scorer(args.features, args.dropout))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr, weight_decay=0.05)
        self.stopper = EarlyStopper(args.patience, args.min_delta)

    def train_epoch(self, epoch):
        self.sampler.set_epoch(epoch)
        self.model.train()
        total = 0.0
        for x, y in self.loader:
            loss = F.binary_cross_entropy_with_logits(self.model(x), y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.loader)

    @torch.no_grad()
    def evaluate(self):
        scorer = self.model.module.eval()
        chunk = slice(self.rank, None, self.world)
        scores = torch.cat([scorer(part) for part in self.valid_x[chunk].split(64)])
        scores, labels = gather_all_tensors(scores), gather_all_tensors(self.valid_y[chunk])
        if self.rank:
            return None
        scores, labels = torch.cat(scores), torch.cat(labels)
        return {"ap": average_precision(scores, labels), "interval": bootstrap(scores, labels, self.args.rounds), "n": len(scores)}

    def save_best(self, epoch, result):
        dist.barrier()
        if self.rank == 0:
            staged = self.folder / "best.tmp"
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            torch.save(self.model.module.state_dict(), staged / "weights.pt")
            (staged / "result.json").write_text(json.dumps({"epoch": epoch, **result}))
            shutil.rmtree(self.folder / "best", ignore_errors=True)
            staged.rename(self.folder / "best")
        dist.barrier()

    def fit(self):
        for epoch in range(self.args.epochs):
            loss = self.train_epoch(epoch)
            result = self.evaluate()
            stop = self.stopper.update(result["ap"] if result else None)
            if self.stopper.improved:
                self.save_best(epoch, result)
            if self.rank == 0:
                low, high = result["interval"]
                print(f"epoch {epoch:2d} loss {loss:.4f} ap {result['ap']:.4f} [{low:.3f}, {high:.3f}] over {result['n']}", flush=True)
            if stop:
                break
        self.model.module.load_state_dict(torch.load(self.folder / "best" / "weights.pt"))
        result = self.evaluate()
        if self.rank == 0:
            print(f"best weights: ap {result['ap']:.4f}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--batch-size", type=int, default=25)
    p.add_argument("--features", type=int, default=24)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--patience", type=int, default=3)
    p.add_argument("--min-delta", type=float, default=5e-4)
    p.add_argument("--rounds", type=int, default=400)
    p.add_argument("--folder", default="run")
    args = p.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(11)
    torch.set_num_threads(1)
    Trainer(args).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
