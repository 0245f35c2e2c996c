import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from engine import Engine, TrainConfig


def main():
    dist.init_process_group("gloo")
    config = TrainConfig()
    torch.manual_seed(0)
    x = torch.randn(192, 20)
    data = TensorDataset(x, (x[:, :3].sum(1) > 0).long())
    sampler = DistributedSampler(data)
    loader = DataLoader(data, config.batch_size, sampler=sampler)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2)))
    engine = Engine(model, config)
    for epoch in range(config.epochs):
        sampler.set_epoch(epoch)
        loss = engine.epoch(loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} train loss {loss:.4f}", flush=True)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), tempfile.mkdtemp() + "/final.pt")
        print("saved final model")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
