import torch
import torch.distributed as dist
from hooks import SaveBest
from trainer import Trainer


def main():
    dist.init_process_group("gloo")
    loader = [(torch.ones(2, 4), torch.ones(2, 1))]
    Trainer(torch.nn.Linear(4, 1), loader, [SaveBest("out")]).fit(3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
