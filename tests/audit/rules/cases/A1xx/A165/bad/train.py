import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from validation import validate


def main(data):
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    loader = DataLoader(data, sampler=DistributedSampler(data))
    for epoch in range(3):
        loss = validate(model, loader)
        scheduler.step(loss)


main(torch.ones(8, 3))
