import torch
import torch.distributed as dist



def exchange(edge, rank):
    received = torch.empty_like(edge)
    dist.recv(received, src=1 - rank)
    dist.send(edge, dst=1 - rank)
    return received


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    print(exchange(torch.ones(3), rank))
