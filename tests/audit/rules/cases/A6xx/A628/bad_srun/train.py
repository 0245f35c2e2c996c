import torch
from slurm_env import init_from_slurm
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    device = init_from_slurm()
    model = DDP(torch.nn.Linear(4, 1).to(device))
    model(torch.rand(2, 4, device=device)).sum().backward()


if __name__ == "__main__":
    main()
