import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from chain import Chain

WIDTH = 1024


class Stage(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(depth)])

    def forward(self, x):
        return self.layers(x)


class PipelineStep:
    """All microbatches forward, then all backward in the same order."""

    def __init__(self, stage, chain, opt, micro):
        self.stage, self.chain, self.opt, self.micro = stage, chain, opt, micro

    def __call__(self, inputs, targets):
        kept = []
        for m in range(self.micro):
            x = self.chain.pull_forward()
            h = self.stage(inputs[m] if x is None else x)
            self.chain.push_forward(h)
            kept.append((x, h))
        total = torch.zeros((), device=inputs.device)
        for m, (x, h) in enumerate(kept):
            g = self.chain.pull_grad()
            if g is None:
                loss = nn.functional.mse_loss(h, targets[m]) / self.micro
                loss.backward()
                total += loss.detach()
            else:
                h.backward(g)
            if x is not None:
                self.chain.push_grad(x.grad)
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)
        dist.broadcast(total, src=self.chain.last)
        return total.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=500)
    ap.add_argument("--micro", type=int, default=8)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    stage = Stage(4).to(device)
    opt = torch.optim.AdamW(stage.parameters(), lr=1e-4)
    step = PipelineStep(stage, Chain((16, WIDTH), torch.float32, device), opt, args.micro)
    gen = torch.Generator(device=device).manual_seed(21)
    for n in range(args.steps):
        inputs = torch.randn(args.micro, 16, WIDTH, device=device, generator=gen)
        value = step(inputs, inputs.flip(-1))
        if n % 50 == 0 and dist.get_rank() == 0:
            print(n, value)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
