import argparse
import copy
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, WeightedRandomSampler

from net import TabNet, average_precision
from table import Transactions


class EarlyStop:
    def __init__(self, patience):
        self.patience, self.bad, self.best, self.state = patience, 0, -1.0, None

    def update(self, value, module):
        if value > self.best + 1e-3:
            self.best, self.bad = value, 0
            self.state = copy.deepcopy(module.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


def score_all(module, valid):
    module.eval()
    with torch.no_grad():
        out = module(valid.num, valid.cat)
    module.train()
    return average_precision(out, valid.y)


def worker(rank, world, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    train = Transactions(6000, 1)
    valid = Transactions(2000, 2, stats=train.stats)
    draws = torch.Generator().manual_seed(args.seed + 1000 * (rank + 1))
    sampler = WeightedRandomSampler(train.weights(), len(train) // world, replacement=True, generator=draws)
    loader = DataLoader(train, args.batch_size, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(TabNet())
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-3)
    stopper = EarlyStop(args.patience)
    for epoch in range(args.epochs):
        total = 0.0
        for num, cat, y in loader:
            loss = F.binary_cross_entropy_with_logits(model(num, cat), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        flag = torch.zeros(1)
        if rank == 0:
            ap = score_all(model.module, valid)
            flag[0] = float(stopper.update(ap, model.module))
            print(f"epoch {epoch} loss {total / len(loader):.4f} AP {ap:.4f} best {stopper.best:.4f}", flush=True)
        dist.broadcast(flag, 0)
        if flag.item():
            break
    if rank == 0:
        model.module.load_state_dict(stopper.state)
        print(f"stopped after epoch {epoch}; AP {score_all(model.module, valid):.4f}", flush=True)
        torch.save(model.module.state_dict(), args.out)
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--world-size", type=int, default=2)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--batch-size", type=int, default=100)
    p.add_argument("--patience", type=int, default=3)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=17)
    p.add_argument("--out", default="tabnet.pt")
    args = p.parse_args()
    args.port = free_port()
    mp.spawn(worker, args=(args.world_size, args), nprocs=args.world_size)
