import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from steps import Tolerant


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = DistributedDataParallel(torch.nn.Linear(4, 1).cuda())
    step = Tolerant(model, torch.optim.SGD(model.parameters(), lr=0.1))
    for _ in range(100):
        step(torch.randn(4, 4).cuda())
    dist.destroy_process_group()


main()
