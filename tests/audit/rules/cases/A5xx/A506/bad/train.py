import torch
import torch.distributed as dist
import wandb
from torch.nn.parallel import DistributedDataParallel
from torch.utils.tensorboard import SummaryWriter
from tracking import start


def main():
    dist.init_process_group("nccl")
    wandb.init(project="flow")
    writer = SummaryWriter("runs/flow")
    start()
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    model(torch.ones(1, 2)).sum().backward()
    if dist.get_rank() == 0:
        writer.close()


if __name__ == "__main__":
    main()
