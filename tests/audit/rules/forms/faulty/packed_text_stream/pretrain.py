import math
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from model import TinyGPT
from stream import StreamConfig, build

MAX_STEPS = 20_000


def lr_at(step, peak=6e-4, warm=500):
    if step < warm:
        return peak * (step + 1) / warm
    return 0.5 * peak * (1 + math.cos(math.pi * min(1.0, step / MAX_STEPS)))


def main():
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    gpt = DDP(TinyGPT().cuda(), device_ids=[local])
    opt = torch.optim.AdamW(gpt.parameters(), lr=6e-4, betas=(0.9, 0.95))
    step = 0
    batches = iter(build(StreamConfig()))
    while step < MAX_STEPS:
        x, y = (t.cuda(non_blocking=True) for t in next(batches))
        for group in opt.param_groups:
            group["lr"] = lr_at(step)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = gpt(x)
            loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(gpt.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        if step % 100 == 0 and dist.get_rank() == 0:
            print(f"{step} {loss.item():.4f}", flush=True)
        step += 1
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
