import torch
import torch.distributed as dist
from saving import full_state, save_checkpoint

from torch.nn.parallel import DistributedDataParallel as DDP


def train(loader):
    model = DDP(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        if dist.get_rank() == 0:
            save_checkpoint(f"{epoch}.pt", [model.module])
    if dist.get_rank() == 0:
        torch.save(full_state(model.module), "last.pt")
