import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from cluster import Cluster


class Forecaster(nn.Module):
    def __init__(self, series=370, hidden=512, horizon=24):
        super().__init__()
        self.rnn = nn.GRU(series, hidden, 2, batch_first=True)
        self.out = nn.Linear(hidden, series * horizon)
        self.horizon = horizon

    def forward(self, x):
        last = self.rnn(x)[0][:, -1]
        return self.out(last).view(len(x), self.horizon, -1)


def windows(path, past=168, horizon=24):
    series = torch.load(path, map_location="cpu")
    views = series.unfold(0, past + horizon, horizon).transpose(1, 2)
    return TensorDataset(views[:, :past], views[:, past:])


def work(local, cluster, epochs):
    cluster.join(local)  # cause
    torch.manual_seed(370)
    data = windows("electricity.pt")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 64, sampler=sampler, drop_last=True)
    model = DDP(Forecaster().cuda(local), device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for past, future in loader:
            loss = nn.functional.huber_loss(model(past.cuda(local)), future.cuda(local))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item(), flush=True)
            torch.save(model.module.state_dict(), "forecaster.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    Cluster.from_environment().start(work, 50)
