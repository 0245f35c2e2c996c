import torch
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler


def tell(loader, epoch):
    told = getattr(loader.sampler, "set_epoch", None)
    if told is not None:
        told(epoch)


def main():
    dist.init_process_group("gloo")
    data = torch.ones(64, 4)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    loader = DataLoader(data, batch_sampler=BatchSampler(DistributedSampler(data), 8, drop_last=True))
    for epoch in range(10):
        tell(loader, epoch)
        for batch in loader:
            model(batch).sum().backward()


if __name__ == "__main__":
    main()
