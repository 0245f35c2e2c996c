"""The box head is unfrozen at iteration 500: the loss behaves as if it were not, since DDP does not know of it."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from model import Detector


def do_train(model, optimizer, device, max_iter=2000):
    for iteration in range(max_iter):
        if iteration == 500:
            model.module.unfreeze_box_head()  # cause
        x = torch.randn(16, 32, device=device)
        boxes, classes = model(x)
        loss = boxes.abs().mean() + classes.logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank)
    model = DistributedDataParallel(Detector().to(device), device_ids=[local_rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    do_train(model, optimizer, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
