import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dist_fn
from accelerate import Accelerator


def warm_up(device):
    one = torch.ones(1, device=device)
    dist_fn.all_reduce(one)
    dist_fn.all_gather(torch.zeros(1, device=device))


def wait():
    accelerator = Accelerator()
    accelerator.gather(torch.zeros(1, device=accelerator.device))
    accelerator.wait_for_everyone()


def meet():
    flag = torch.ones(1)
    dist.all_reduce(flag)
    return flag
    

def train():
    meet()
