import os

import torch
from accelerate import Accelerator

LOCAL = int(os.environ.get("LOCAL_WORLD_SIZE", 1))


def steps(args):
    return max(1, args.total_batch_size // LOCAL // args.batch_size)


def main(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=steps(args))
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
