import torch
import torch.distributed as dist

from checkpointer import Checkpointer
from speculator import hidden_state_dataset
from trainer import Trainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = hidden_state_dataset()
    checkpointer = Checkpointer("output/checkpoint")
    Trainer(dataset, checkpointer, num_epochs=3).run(last_epoch=1)
    Trainer(dataset, checkpointer, num_epochs=3, resume=True).run(last_epoch=3)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
