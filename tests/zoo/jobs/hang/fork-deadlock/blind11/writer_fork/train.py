import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader

from data import Waves
from metrics import MetricWriter, NullWriter


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    writer = MetricWriter(interval=1.0) if rank == 0 else NullWriter()
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Waves(rank, writer), batch_size=16, num_workers=2, multiprocessing_context="fork")
    time.sleep(0.3)
    for epoch in range(4):
        for x, y in loader:
            loss = nn.functional.l1_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
