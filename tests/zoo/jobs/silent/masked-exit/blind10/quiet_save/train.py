import copy
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from store import Store


def snapshot(model, optimizer, rate, epoch):
    return {
        "model": {k: v.clone() for k, v in model.module.state_dict().items()},
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "rate": rate,
        "epoch": epoch,
    }


def main(folder, epochs=4):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(6)
    x = torch.randn(1280, 18)
    data = TensorDataset(x, x[:, :6].pow(2).sum(1, keepdim=True))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=20, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(18, 48), nn.GELU(), nn.Linear(48, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    rate = lambda epoch: 0.8 ** epoch
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    store = Store(folder) if rank == 0 else None
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        if rank == 0:
            store.put(snapshot(model, optimizer, rate, epoch), f"epoch{epoch}.pt")
            print(f"epoch {epoch} loss {loss.item():.4f}, checkpoint epoch{epoch}.pt", flush=True)
    if rank == 0:
        store.close()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
