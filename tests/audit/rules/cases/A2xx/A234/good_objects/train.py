import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class Scaler:
    def fit(self, batches):
        seen = [x.mean(0) for x, _ in batches]
        self.mean = torch.stack(seen).mean(0)
        return self

    def __call__(self, x):
        return x - self.mean


def main():
    dist.init_process_group("nccl")
    data = torch.load("set.pt")
    loader = DataLoader(data, 16, sampler=DistributedSampler(data))
    given = [Scaler().fit(loader)]
    dist.broadcast_object_list(given, src=0)
    scaler = given[0]
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        loss = (model(scaler(x)) - y).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
