import torch
import torch.distributed as dist
from layout import Layout


def main():
    dist.init_process_group("gloo")
    layout = Layout(2)
    dist.all_reduce(torch.ones(1), group=layout.group)
    dist.destroy_process_group()


main()
