import torch
import torch.distributed as dist


class Setup:
    def __init__(self, cfg):
        self.cfg = cfg
        dist.init_process_group("gloo")
        self.rank = dist.get_rank()
        self.seed()

    def seed(self):
        torch.manual_seed(self.cfg["seed"])
