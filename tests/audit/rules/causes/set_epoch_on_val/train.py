"""set_epoch is called, but on the sampler of the validation set: training sees one order in all epochs."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    dist.init_process_group("gloo")
    x = torch.randn(128, 4)
    train_set, val_set = TensorDataset(x[:96]), TensorDataset(x[96:])
    train_sampler = DistributedSampler(train_set)  # cause
    val_sampler = DistributedSampler(val_set, shuffle=False)
    train_loader = DataLoader(train_set, batch_size=8, sampler=train_sampler)  # cause
    val_loader = DataLoader(val_set, batch_size=8, sampler=val_sampler)
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(10):
        val_sampler.set_epoch(epoch)  # cause
        for (batch,) in train_loader:
            opt.zero_grad()
            model(batch).mean().backward()
            opt.step()
        with torch.no_grad():
            for (batch,) in val_loader:
                model.module(batch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
