import torch
import torch.distributed as dist


def main(index):
    dist.init_process_group("nccl")
    device = torch.device("cuda", index)
    torch.nn.Linear(2, 1).to(device)
    torch.ones(1, device="cuda")


if __name__ == "__main__":
    main(1)
