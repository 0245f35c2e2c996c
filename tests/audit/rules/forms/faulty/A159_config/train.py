import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split
from seeds import Seeds


class Data:
    def __init__(self):
        whole = TensorDataset(torch.arange(400.0).reshape(100, 4))
        self.train, self.test = random_split(whole, [80, 20])  # cause


def main():
    dist.init_process_group("gloo")
    Seeds(42, dist.get_rank()).apply()  # cause
    data = Data()
    sampler = DistributedSampler(data.train)
    loader = DataLoader(data.train, batch_size=4, sampler=sampler)
    model = DDP(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    for (x,) in DataLoader(data.test):
        model.module(x)
    dist.destroy_process_group()


main()
