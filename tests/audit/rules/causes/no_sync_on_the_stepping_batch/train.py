import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from trainer import Trainer


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=5))
    torch.manual_seed(0)
    x = torch.randn(512, 8)
    data = TensorDataset(x, x.sum(1, keepdim=True))
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data), drop_last=True)
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=1e-3))
    for epoch in range(5):
        trainer.train_epoch(loader, epoch)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), os.environ.get("OUT", "model.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
