import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    x = torch.randn(460, 4)
    data, held = TensorDataset(x[:420]), TensorDataset(x[420:])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler, drop_last=True)
    val_loader = DataLoader(held, batch_size=32, sampler=DistributedSampler(held, shuffle=False), drop_last=True)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for (batch,) in loader:
            optimizer.zero_grad()
            F.mse_loss(model(batch), batch.sum(1, keepdim=True)).backward()
            optimizer.step()
        total = torch.zeros(1)
        with torch.no_grad():
            for (batch,) in val_loader:
                total += F.mse_loss(model.module(batch), batch.sum(1, keepdim=True))
        dist.all_reduce(total)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} validation {total.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
