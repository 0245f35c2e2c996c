import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Job:
    def __init__(self, config, rank):
        self.config, self.rank = config, rank

    def connect(self):
        url = f"tcp://127.0.0.1:{self.config['port']}"
        dist.init_process_group("gloo", init_method=url, rank=self.rank, world_size=self.config["world_size"])

    def run(self):
        self.connect()
        torch.manual_seed(0)
        model = DistributedDataParallel(torch.nn.Linear(6, 6))
        opt = torch.optim.Adam(model.parameters())
        for _ in range(self.config["steps"]):
            x = torch.randn(8, 6)
            opt.zero_grad()
            (model(x) + x).square().mean().backward()
            opt.step()
        dist.barrier()
        dist.destroy_process_group()
        time.sleep(0.5)


def entry(index, config):
    Job(config, rank=index).run()
