import torch
import torch.distributed as dist
from ring import Ring


def main():
    dist.init_process_group("gloo")
    ring = Ring()
    x = torch.ones(4)
    for _ in range(3):
        x = ring.rotate(x)
    dist.destroy_process_group()


main()
