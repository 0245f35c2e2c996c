import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from storage import Bucket, ObjectDataset

logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data = ObjectDataset(Bucket(), count=360)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=12, sampler=sampler, num_workers=2)
    model = DDP(torch.nn.Linear(9, 1))
    optim = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            loss = (model(x).squeeze(1) - x.mean(1)).square().mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.5f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
