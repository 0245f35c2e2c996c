import torch
import torch.distributed as dist



def main():
    dist.init_process_group("gloo")
    rank, x = dist.get_rank(), torch.ones(2)
    if rank == 0:
        dist.send(x, dst=2)
    elif rank == 2:
        dist.recv(x, src=1)
    dist.barrier()
