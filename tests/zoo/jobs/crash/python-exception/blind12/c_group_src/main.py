import torch
import torch.distributed as dist
from torch import nn

from layout import Layout


def model():
    return nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))


def train_alone(steps=40):
    net = model()
    opt = torch.optim.SGD(net.parameters(), 0.05)
    for _ in range(steps):
        x = torch.randn(32, 6)
        loss = (net(x) - x.prod(1, keepdim=True)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def train_member(layout, steps=40):
    net = model()
    layout.sync_members(net)
    opt = torch.optim.SGD(net.parameters(), 0.05)
    for _ in range(steps):
        x = torch.randn(32, 6)
        loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
        opt.zero_grad()
        loss.backward()
        layout.average_members(net)
        opt.step()
    return loss.item()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    layout = Layout()
    result = train_member(layout) if layout.is_member else train_alone()
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, result)
    if layout.rank == 0:
        print("losses", gathered)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
