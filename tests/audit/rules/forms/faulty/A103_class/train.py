import os
import torch
import torch.distributed as dist
from trainer import Trainer


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    trainer = Trainer(torch.nn.Linear(4, 4))
    for _ in range(10):
        trainer.step(torch.randn(2, 4).cuda())
    dist.destroy_process_group()


main()
