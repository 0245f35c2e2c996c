import torch
import torch.distributed as dist


def accuracy(correct, total, device):
    dist.all_reduce(torch.tensor(correct, device=device))
    dist.all_reduce(torch.tensor([float(total)]).to(device), op=dist.ReduceOp.SUM)
    return correct / total


class Meter:
    def __init__(self):
        self.sum = torch.zeros(2)

    def value(self):
        dist.all_reduce(self.sum.clone())
        return (self.sum[0] / self.sum[1]).item()


def logged(loss, world):
    dist.reduce(loss.detach() / world, dst=0)
    return loss.item()


def agreed(stop, device):
    dist.broadcast(torch.tensor([int(stop)], device=device), src=0)
    return stop
