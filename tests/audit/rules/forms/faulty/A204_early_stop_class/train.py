import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from stopping import Patience


def validate(model, loader):
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += (model(x) - y).pow(2).mean().item()
    return total / len(loader)


def main():
    dist.init_process_group("gloo")
    data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = DDP(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    patience = Patience()
    for epoch in range(100):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            (model(x) - y).pow(2).mean().backward()
            optimizer.step()
        patience.update(validate(model, loader))
        if patience.exhausted:  # cause
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
