import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel as DDP

from graphs import GraphBatches, ObjectStore


class GCN(nn.Module):
    def __init__(self, width=32, classes=3):
        super().__init__()
        self.l1, self.l2 = nn.Linear(2, width), nn.Linear(width, width)
        self.out = nn.Linear(width, classes)

    def forward(self, adj, x):
        x = F.relu(self.l1(adj @ x))
        x = F.relu(self.l2(adj @ x))
        return self.out(x.mean(1))


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.snapshot = os.path.join(args.out, "snapshot.pt")
        torch.manual_seed(args.seed)
        self.net = GCN()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=args.lr)
        self.epoch, self.step = 0, 0
        self._load_snapshot()
        self.model = DDP(self.net)
        store = ObjectStore(os.path.join(args.out, "spool"), f"rank{self.rank}") if self.rank == 1 else None
        self.data = GraphBatches(store or _Direct(), args.total, args.batch_size, self.rank, self.world)

    def _load_snapshot(self):
        found = [None]
        if self.rank == 0 and os.path.exists(self.snapshot):
            found = [torch.load(self.snapshot)]
        dist.broadcast_object_list(found, src=0)
        if found[0] is None:
            return
        self.net.load_state_dict(found[0]["model"])
        self.opt.load_state_dict(found[0]["opt"])
        self.epoch, self.step = found[0]["epoch"], found[0]["step"]
        if self.rank == 0:
            print(f"resuming at epoch {self.epoch} step {self.step}", flush=True)

    def _save_snapshot(self):
        if self.rank == 0:
            state = {"model": self.net.state_dict(), "opt": self.opt.state_dict(), "epoch": self.epoch, "step": self.step}
            torch.save(state, self.snapshot + ".tmp")
            os.replace(self.snapshot + ".tmp", self.snapshot)
        dist.barrier()

    def run(self):
        while self.epoch < self.args.epochs:
            for adj, feat, y in self.data.epoch(self.epoch, skip=self.step):
                loss = F.cross_entropy(self.model(adj, feat), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.step += 1
                if self.step % self.args.save_every == 0:
                    self._save_snapshot()
                if self.rank == 0 and self.step % 5 == 0:
                    print(f"epoch {self.epoch} step {self.step} loss {loss.item():.3f}", flush=True)
            self.epoch, self.step = self.epoch + 1, 0
            self._save_snapshot()


class _Direct:
    """Rank 0's node has the graphs on its own disk."""

    def read(self, i):
        from graphs import _make_graph

        return _make_graph(i)


@record
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default="job")
    p.add_argument("--total", type=int, default=384)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--save-every", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    os.makedirs(args.out, exist_ok=True)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    trainer = Trainer(args)
    trainer.run()
    if trainer.rank == 0:
        print("finished", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
