import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from tabular import Table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fold", type=int, required=True)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(args.fold)
    table = Table(fold=args.fold)
    sampler = DistributedSampler(table)
    loader = DataLoader(table, batch_size=16, sampler=sampler)
    model = DDP(torch.nn.Linear(table.width, table.classes))
    optim = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optim.zero_grad()
            loss.backward()
            optim.step()
    if dist.get_rank() == 0:
        print(f"fold {args.fold} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
