import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def schedule(optimizer, data, batch, epochs):
    steps = epochs * (len(data) // batch)
    return torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=steps)


def main():
    dist.init_process_group("gloo")
    data = TensorDataset(torch.ones(640, 4))
    batch, epochs = 16, 9
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=batch, sampler=sampler)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = schedule(optimizer, data, batch, epochs)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            net(x).sum().backward()
            optimizer.step()
            scheduler.step()


if __name__ == "__main__":
    main()
