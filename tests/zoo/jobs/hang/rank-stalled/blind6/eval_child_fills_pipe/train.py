import torch
import torch.distributed as dist

from pipeline.callbacks import ExternalEval, Printer
from pipeline.trainer import Trainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    callbacks = [Printer(), ExternalEval(every=2)]
    Trainer(callbacks, epochs=4, steps=10).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
