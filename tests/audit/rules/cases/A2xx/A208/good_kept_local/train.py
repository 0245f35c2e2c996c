"""Under no_sync() nothing is reduced: a rank may fail there, as long as all agree before gradients are exchanged."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def forward_backward(model, batch):
    try:
        with model.no_sync():
            loss = model(batch).mean()
            loss.backward()
        return loss.detach()
    except torch.cuda.OutOfMemoryError:
        return None


def reduce_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()


def any_failed(failed):
    flag = torch.tensor(int(failed), device="cuda")
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    return bool(flag.item())


def run(net, loader):
    model = DDP(net.cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        optimizer.zero_grad()
        loss = forward_backward(model, batch)
        if any_failed(loss is None):
            continue
        reduce_gradients(model)
        optimizer.step()


def step_of(model, batch):
    model(batch).sum().backward()


def of_a_step(net, loader):
    model = DDP(net.cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        failed = False
        try:
            with torch.autograd.profiler.record_function("step"), model.no_sync():
                step_of(model, batch)
        except torch.cuda.OutOfMemoryError:
            failed = True
            torch.cuda.empty_cache()
        if any_failed(failed):
            optimizer.zero_grad()
            continue
        reduce_gradients(model)
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    run(torch.nn.Linear(4, 4), [torch.ones(4)] * 8)
    of_a_step(torch.nn.Linear(4, 4), [torch.ones(4)] * 8)
