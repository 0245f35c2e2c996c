import os
import tempfile

import torch
import torch.distributed as dist


class Topology:
    """Ranks of one node share their experts; the last node holds the shared layers only."""

    def __init__(self, experts=(0, 1)):
        self.rank = dist.get_rank()
        self.experts = list(experts)
        group = dist.new_group(self.experts, backend="gloo")
        self.expert_group = group if self.rank in self.experts else None


class ExpertSaver:
    def __init__(self, topology, every):
        self.topology, self.every = topology, every
        self.folder = tempfile.mkdtemp()

    def __call__(self, model, step):
        if step % self.every or self.topology.expert_group is None:
            return
        state = {k: v for k, v in model.state_dict().items() if "expert" in k}
        torch.save(state, os.path.join(self.folder, f"experts-{self.topology.rank}-{step}.pt"))
        dist.barrier()
        if self.topology.rank == self.topology.experts[0]:
            print(f"experts of step {step} saved", flush=True)
