import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from phases import Phases


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    dist.init_process_group("gloo")
    net = Net()
    phases = Phases(net, 3)
    model = DDP(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(6):
        phases.advance(epoch)  # cause
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(2, 4)).sum().backward()
            optimizer.step()
    dist.destroy_process_group()


main()
