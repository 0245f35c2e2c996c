import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def main():
    dist.init_process_group("nccl")
    data = torch.load("set.pt")
    seen = [x.mean(0) for x, _ in DataLoader(data, 16)]
    mean = torch.stack(seen).mean(0)
    loader = DataLoader(data, 16, sampler=DistributedSampler(data))
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        loss = (model(x - mean) - y).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
