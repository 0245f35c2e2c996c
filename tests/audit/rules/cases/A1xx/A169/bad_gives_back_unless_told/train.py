import torch
import torch.distributed as dist
from convert import run
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    run(model, "model.pt", return_model=False)


main()
