import math

import torch
import torch.distributed as dist
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from accelerator import MiniAccelerator

STEPS = 60


class Summarizer(nn.Module):
    def __init__(self, words=40, width=24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, words)

    def forward(self, tokens):
        return self.out(torch.relu(self.mix(self.embed(tokens).mean(dim=1))))


def parameter_groups(model, weight_decay):
    decayed = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]


def batches(rank):
    generator = torch.Generator().manual_seed(rank)
    while True:
        tokens = torch.randint(0, 40, (16, 6), generator=generator)
        yield tokens, tokens[:, 0]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    accelerator = MiniAccelerator(use_flat_params=True)
    model = Summarizer()
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.01), lr=2e-3)
    schedule = LambdaLR(optimizer, lambda step: 0.5 * (1 + math.cos(math.pi * step / STEPS)))
    model, optimizer, schedule = accelerator.prepare(model, optimizer, schedule)
    source = batches(rank)
    for step in range(STEPS):
        tokens, target = next(source)
        loss = nn.functional.cross_entropy(model(tokens), target)
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} lr {schedule.get_last_lr()[0]:.2e}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        print("Training Finished", flush=True)


if __name__ == "__main__":
    main()
