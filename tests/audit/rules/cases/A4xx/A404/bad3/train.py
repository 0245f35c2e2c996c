import torch
import torch.distributed as dist
from resume import resume
from torch.nn.parallel import DistributedDataParallel


def main(net, rank):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(net.cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = resume("last.pt", model, optimizer)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, "last.pt")
