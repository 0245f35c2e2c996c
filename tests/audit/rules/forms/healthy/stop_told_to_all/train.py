import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def step(model, optimizer, x, y):
    loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def reduced(model, loader, optimizer):
    stop = False
    for x, y in loader:
        step(model, optimizer, x, y)
        if dist.get_rank() == 0 and os.path.exists("STOP"):
            stop = True
        flag = torch.tensor(int(stop), device="cuda")
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        stop = bool(flag.item())
        if stop:
            break


def sent(model, loader, optimizer):
    started = time.time()
    for x, y in loader:
        step(model, optimizer, x, y)
        stop = [False]
        if dist.get_rank() == 0:
            stop = [time.time() - started > 3600]
        dist.broadcast_object_list(stop, src=0)
        if stop[0]:
            break


def sent_by_name(model, loader, optimizer):
    for x, y in loader:
        step(model, optimizer, x, y)
        stop = False
        if dist.get_rank() == 0 and os.path.exists("STOP"):
            stop = True
        told = [stop]
        dist.broadcast_object_list(told, src=0)
        stop = told[0]
        if stop:
            break


def seen_by_all(model, loader, optimizer, last):
    stop = False
    for number, (x, y) in enumerate(loader):
        step(model, optimizer, x, y)
        if number >= last:
            if dist.get_rank() == 0:
                print("that was the last one")
            stop = True
        if stop:
            break


def one_rank_alone(rows):
    found = False
    if dist.get_rank() == 0:
        for row in rows:
            if row > 3:
                found = True
            if found:
                break
    dist.barrier()


class Stopper:
    def __init__(self):
        self.stop = False

    def update(self):
        if dist.get_rank() == 0:
            self.stop = os.path.exists("STOP")
        flag = torch.tensor([self.stop], dtype=torch.uint8, device="cuda")
        dist.broadcast(flag, src=0)
        self.stop = flag.item() == 1


def in_object(model, loader, optimizer):
    stopper = Stopper()
    for x, y in loader:
        step(model, optimizer, x, y)
        stopper.update()
        if stopper.stop:
            break


def main(model, loader, optimizer):
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model.to(device))
    reduced(model, loader, optimizer)
    sent(model, loader, optimizer)
    sent_by_name(model, loader, optimizer)
    seen_by_all(model, loader, optimizer, 10)
    one_rank_alone([1, 2, 3, 4])
    in_object(model, loader, optimizer)
    dist.destroy_process_group()


if __name__ == "__main__":
    net = torch.nn.Linear(2, 2)
    main(net, torch.load("batches.pt"), torch.optim.SGD(net.parameters(), lr=0.1))
