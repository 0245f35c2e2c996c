import os
from dataclasses import dataclass, field

import torch
import torch.distributed as dist


@dataclass
class Place:
    number: int = field(default_factory=lambda: int(os.environ["RANK"]))
    local: int = field(default_factory=lambda: int(os.environ["LOCAL_RANK"]))

    @property
    def device(self):
        return torch.device("cuda", self.local)

    def join(self):
        torch.cuda.set_device(self.device)
        dist.init_process_group("nccl")
        return self
