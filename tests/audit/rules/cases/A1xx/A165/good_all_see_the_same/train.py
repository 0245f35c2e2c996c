import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def validate(model, loader):
    total = torch.zeros(1)
    with torch.no_grad():
        for batch in loader:
            loss = model(batch).mean()
            total += loss.item()
    return total.item()


def main(data):
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    loader = DataLoader(data)
    for epoch in range(3):
        scheduler.step(validate(model, loader))


main(torch.ones(8, 3))
