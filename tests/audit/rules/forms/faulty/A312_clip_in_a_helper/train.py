import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Clipper:
    def __init__(self, scaler, limit):
        self.scaler, self.limit = scaler, limit

    def __call__(self, model):
        torch.nn.utils.clip_grad_norm_(model.parameters(), self.limit)  # cause


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = DDP(torch.nn.Linear(2, 2).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    clip = Clipper(scaler, 1.0)
    for _ in range(10):
        optimizer.zero_grad()
        scaler.scale(model(torch.randn(2, 2).cuda()).sum()).backward()
        clip(model)
        scaler.step(optimizer)
        scaler.update()
    dist.destroy_process_group()


main()
