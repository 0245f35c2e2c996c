import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from uploader import MetricUploader


class Cell(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.step = nn.GRUCell(8, width)
        self.read = nn.Linear(width, 1)

    def forward(self, x):
        h = x.new_zeros(len(x), self.step.hidden_size)
        for t in range(x.shape[1]):
            h = self.step(x[:, t], h)
        return self.read(h).squeeze(-1)


def sequences(n=1920):
    g = torch.Generator().manual_seed(6)
    x = torch.randn(n, 12, 8, generator=g)
    return TensorDataset(x, x[:, :, 0].mean(1) + 0.5 * x[:, -1, 1])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(2)
    data = sequences()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(Cell())
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    uploader = MetricUploader() if rank == 0 else None
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            if uploader:
                uploader.log(epoch=epoch, step=i, loss=loss.item())
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    if uploader:
        uploader.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
