import torch
import torch.distributed as dist
from config import parse


def main():
    dist.init_process_group("gloo")
    cfg = parse()
    total = torch.zeros(1)
    for step in range(cfg.steps):
        total += step
    dist.all_reduce(total)
    if cfg.writer:
        print(total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
