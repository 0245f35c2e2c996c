import torch
import torch.distributed as dist
from recovery import guarded


def main():
    dist.init_process_group("gloo")
    for _ in range(3):
        with guarded():
            x = torch.ones(4).reshape(2, 2)
            print(x.sum())
    dist.destroy_process_group()


main()
