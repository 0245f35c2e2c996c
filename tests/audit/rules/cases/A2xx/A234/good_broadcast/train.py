import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class Scaler:
    def fit(self, batches):
        seen = [x.mean(0) for x, _ in batches]
        self.mean = torch.stack(seen).mean(0)
        self.std = torch.stack(seen).std(0)

    def share(self):
        for one in (self.mean, self.std):
            dist.broadcast(one, src=0)

    def __call__(self, x):
        return (x - self.mean) / self.std


def main():
    dist.init_process_group("nccl")
    data = torch.load("set.pt")
    loader = DataLoader(data, 16, sampler=DistributedSampler(data))
    scaler = Scaler()
    scaler.fit(loader)
    scaler.share()
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        loss = (model(scaler(x)) - y).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
