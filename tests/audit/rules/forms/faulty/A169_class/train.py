import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from saver import Checkpointer


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    checkpoint = Checkpointer("model.pt")
    for _ in range(10):
        optimizer.zero_grad()
        model(torch.randn(2, 2)).sum().backward()
        optimizer.step()
        checkpoint.save(model)
    dist.destroy_process_group()


main()
