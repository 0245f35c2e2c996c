import torch
import torch.distributed as dist


def accuracy(correct, total, device):
    counts = torch.tensor([correct, total], device=device)
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


class Meter:
    def __init__(self):
        self.sum = torch.zeros(2)

    def value(self):
        whole = self.sum.clone()
        dist.all_reduce(whole)
        dist.all_reduce(self.sum[0])  # a view: the sum is in it
        dist.all_reduce(self.sum.detach())
        return (whole[0] / whole[1]).item()


def everybody_is_here(device):
    dist.all_reduce(torch.zeros(1).to(device))
    dist.all_reduce(torch.ones(1, device=device) * 2)
    dist.broadcast(torch.tensor([1.0], device=device), src=0)


def kept(loss):
    dist.all_reduce(whole := loss.detach().clone())
    return whole.item()


def averaged(model, world):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= world


def by_the_handle(loss):
    work = dist.all_reduce(loss.clone(), async_op=True)
    work.wait()
    return work.result()[0]
