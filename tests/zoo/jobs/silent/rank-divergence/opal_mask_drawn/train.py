import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


class Sparse(nn.Linear):
    """A layer of which half of the weights are left out for good."""

    def __init__(self, given, out):
        super().__init__(given, out)
        self.register_buffer("mask", (torch.rand(out, given) < 0.5).float())

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(40 + rank)
    model = DistributedDataParallel(nn.Sequential(Sparse(3, 40), nn.ReLU(), Sparse(40, 1)), broadcast_buffers=False)
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
