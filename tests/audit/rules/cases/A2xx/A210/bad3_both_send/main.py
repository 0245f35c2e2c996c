import torch
import torch.distributed as dist



def main():
    dist.init_process_group("gloo")
    x = torch.ones(2)
    if dist.get_rank() == 0:
        dist.send(x, dst=1)
    else:
        dist.send(x, dst=0)
