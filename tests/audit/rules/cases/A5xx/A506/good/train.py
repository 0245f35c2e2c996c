import torch
import torch.distributed as dist
import wandb
from torch.nn.parallel import DistributedDataParallel
from torch.utils.tensorboard import SummaryWriter
from tracking import log_to, start


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def later():
    if not is_main():
        return
    wandb.init(project="late")


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    main_rank = rank == 0
    if main_rank:
        wandb.init(project="flow")
        start()
    log_to(f"runs/{rank}")
    run = wandb.init(project="flow", group="night", name=f"rank-{rank}")
    quiet = wandb.init(mode="online" if main_rank else "disabled")
    writer = SummaryWriter("runs") if is_main() else None
    later()
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    model(torch.ones(1, 2)).sum().backward()
    return run, quiet, writer


if __name__ == "__main__":
    main()
