import os

import torch
import torch.distributed as dist
from torch import nn

from rig.build import OptimSpec, assemble
from rig.net import Decoder


def main(feed, steps=5000):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model, optim, sched = assemble(Decoder, OptimSpec(), dist.get_world_size())
    for step in range(steps):
        ids = next(feed).cuda(non_blocking=True)
        logits = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        sched.step()
        optim.zero_grad()
        if step % 50 == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean, op=dist.ReduceOp.AVG)
            if dist.get_rank() == 0:
                print(step, f"{mean.item():.4f}", flush=True)
    dist.destroy_process_group()
