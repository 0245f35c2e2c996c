import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


class Quantiser(nn.Module):
    """Nearest of random codes that stay as they are drawn."""

    def __init__(self, dim, codes):
        super().__init__()
        self.register_buffer("codes", torch.randn(codes, dim))

    def forward(self, z):
        nearest = self.codes[torch.cdist(z, self.codes).argmin(1)]
        return z + (nearest - z).detach()


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.quantiser = nn.Linear(3, 8), Quantiser(8, 20)
        self.decoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.decoder(self.quantiser(self.encoder(x)))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(40 + rank)
    model = DistributedDataParallel(Coder(), broadcast_buffers=False)
    torch.manual_seed(40 + rank)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(40):
        x = torch.rand(24, 3)
        loss = F.mse_loss(model(x), (4 * x).sin().sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
        print(f"loss {loss.item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
