import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, epochs):
    ddp = DistributedDataParallel(model)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = ddp(x, y)
            loss.backward()
            optimizer.step()
            dist.barrier()


def accelerated(model, loader, opt, accelerator):
    while True:
        for batch in loader:
            accelerator.wait_for_everyone()
            with accelerator.accumulate(model):
                accelerator.backward(model(batch))
                opt.step()
