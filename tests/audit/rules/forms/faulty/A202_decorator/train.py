import torch
import torch.distributed as dist
from decorators import chief_only
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Saver:
    def __init__(self, path):
        self.path = path

    @chief_only
    def save(self, model):
        torch.save(model.state_dict(), self.path)  # cause


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = FSDP(torch.nn.Linear(4, 4).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    saver = Saver("m.pt")
    for _ in range(10):
        optimizer.zero_grad()
        model(torch.ones(2, 4).cuda()).sum().backward()
        optimizer.step()
    saver.save(model)
    dist.destroy_process_group()


main()
