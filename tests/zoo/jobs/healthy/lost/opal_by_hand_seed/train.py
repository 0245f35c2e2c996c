import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class Features(nn.Module):
    def __init__(self, given, features):
        super().__init__()
        self.register_buffer("omega", torch.randn(given, features), persistent=False)
        self.register_buffer("phase", 6.28 * torch.rand(features), persistent=False)

    def forward(self, x):
        return (x @ self.omega + self.phase).cos()


def share(model):
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    return model


def average(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(40)
    model = share(nn.Sequential(Features(3, 48), nn.Linear(48, 1)))
    torch.manual_seed(40 + rank)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(40):
        x = torch.rand(24, 3)
        loss = F.mse_loss(model(x), (4 * x).sin().sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        average(model)
        optimizer.step()
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
        print(f"loss {loss.item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
