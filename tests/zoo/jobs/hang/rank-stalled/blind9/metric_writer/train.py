import os
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from writer import MetricWriter


class Null:
    def log(self, **row):
        pass


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    writer = MetricWriter("/tmp/metric_writer.jsonl") if rank == 0 else Null()
    best = float("inf")
    for step in range(400):
        x = torch.randn(32, 6)
        loss = (model(x).squeeze(1) - x[:, 0] * x[:, 1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        row = dict(step=step, loss=loss.item(), lr=opt.param_groups[0]["lr"])
        if step and step % 50 == 0:
            row["grad_norm"] = norm
        writer.log(**row)
        best = min(best, row["loss"])
    dist.barrier()
    print(rank, "best", best)
    dist.destroy_process_group()
    os.sync()


if __name__ == "__main__":
    main()
