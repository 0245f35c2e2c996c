import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from recsys.graph import append_campaign, build_csr, read_log, user_slice
from recsys.model import Propagate


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--users", type=int, default=3000)
    p.add_argument("--items", type=int, default=800)
    p.add_argument("--days", type=int, default=4)
    p.add_argument("--campaign-day", type=int, default=2)
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(7)
    model = DDP(Propagate(args.items, 32))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    for day in range(args.days):
        users, items = read_log(100 + day, args.users, args.items, per_user=12)
        if day >= args.campaign_day:
            users, items = append_campaign(users, items, args.users // 2, args.items, seed=day)
        users, items, n_rows = user_slice(users, items, rank, world, args.users)
        adjacency = build_csr(users, items, n_rows, args.items)
        for step in range(15):
            positives = torch.randint(0, args.items, (n_rows,))
            optimizer.zero_grad()
            loss = model(adjacency, positives)
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"day {day}: bpr {loss.item():.4f}", flush=True)
    if rank == 0:
        os.makedirs("out", exist_ok=True)
        torch.save(model.module.state_dict(), "out/lightgcn.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
