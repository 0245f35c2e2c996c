import torch
import torch.distributed as dist

from build import build


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", dist.get_rank() % torch.cuda.device_count())
    model = build(64)
    tokens = torch.ones(1, 64, device=device)
    model(tokens).sum().backward()


if __name__ == "__main__":
    main()
