import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from clickstream import ClickStream


class Ctr(nn.Module):
    def __init__(self, fields=24, buckets=1 << 20, dim=16):
        super().__init__()
        self.table = nn.Embedding(buckets, dim)
        self.mlp = nn.Sequential(nn.Linear(fields * dim, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, ids):
        return self.mlp(self.table(ids).flatten(1)).squeeze(-1)


class CtrJob:
    def __init__(self, args):
        self.args = args
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        data = ClickStream(args.root, dist.get_rank(), dist.get_world_size())
        self.loader = DataLoader(data, args.batch_size, num_workers=args.workers, pin_memory=True)
        self.model = DDP(Ctr().to(self.device), device_ids=[local])
        self.opt = torch.optim.SGD(self.model.parameters(), lr=args.lr)
        self.loss = nn.BCEWithLogitsLoss()

    def one_pass(self):
        seen = torch.zeros(1, dtype=torch.long, device=self.device)
        with Join([self.model]):
            for ids, click in self.loader:
                ids = ids.to(self.device, non_blocking=True)
                click = click.to(self.device, non_blocking=True)
                self.opt.zero_grad(set_to_none=True)
                self.loss(self.model(ids), click).backward()
                self.opt.step()
                seen += len(click)
        dist.all_reduce(seen)
        return seen.item()

    def run(self):
        for n in range(self.args.passes):
            seen = self.one_pass()
            if dist.get_rank() == 0:
                print(f"pass {n}: {seen} clicks")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("root")
    ap.add_argument("--passes", type=int, default=2)
    ap.add_argument("--batch-size", type=int, default=4096)
    ap.add_argument("--workers", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.02)
    dist.init_process_group("nccl")
    CtrJob(ap.parse_args()).run()
    dist.destroy_process_group()
