import torch
import torch.distributed as dist
from torch import nn

from parallel.mesh import Mesh
from parallel.reduce import HierarchicalAverager


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))

    def forward(self, x):
        return self.body(x)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    mesh = Mesh(local_size=2)
    average = HierarchicalAverager(mesh)
    net = Net()
    opt = torch.optim.Adam(net.parameters())
    for step in range(30):
        x = torch.randn(16, 10)
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        average([p.grad for p in net.parameters()])
        opt.step()
        if mesh.rank == 0 and step % 10 == 0:
            print(step, loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
