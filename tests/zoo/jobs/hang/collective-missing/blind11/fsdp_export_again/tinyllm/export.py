import os

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


class Exporter:
    def __init__(self, path):
        self.path = path

    def __call__(self, model, step):
        if dist.get_rank() == 0:
            self.write(model, step)
        dist.barrier()

    def write(self, model, step):
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        state = get_model_state_dict(model, options=options)
        target = os.path.join(self.path, f"step-{step}.pt")
        torch.save(state, target)
        print("exported", target, flush=True)
