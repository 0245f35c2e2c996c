import os
import torch
import torch.distributed as dist
from stats import Counter


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    counter = Counter()
    counter.value += 1
    print(counter.total())
    dist.destroy_process_group()


main()
