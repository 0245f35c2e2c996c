import deepspeed
import torch.distributed as dist
import wandb


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


class Trainer:
    def __init__(self, model, config):
        if is_main():
            wandb.init(project="late", config=config)
        self.engine, self.optimizer, _, _ = deepspeed.initialize(model=model, config=config)


Trainer(make(), {})
