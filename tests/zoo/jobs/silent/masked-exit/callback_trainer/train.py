import tempfile

import torch.distributed as dist

from callbacks import CheckpointerCallback, LogCallback
from trainer import BaseTrainer

CONFIG = {"seed": 0, "lr": 1e-3, "max_steps": 100, "save_steps": 100}

if __name__ == "__main__":
    dist.init_process_group("gloo")
    callbacks = [CheckpointerCallback(tempfile.mkdtemp(), CONFIG["save_steps"]), LogCallback()]
    BaseTrainer(CONFIG, callbacks).train()
    dist.destroy_process_group()
