import argparse
import json

import torch
import torch.distributed as dist
import torch.nn.functional as F

from probes import ActivationProbe
from stages import MixerBlock, build


class PipelineTrainer:
    def __init__(self, args):
        self.args = args
        self.stage = dist.get_rank()
        self.last = dist.get_world_size() - 1
        torch.manual_seed(args.seed + self.stage)
        self.module = build(self.stage, self.last + 1, args.layers, args.dim, 4)
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=3e-3)
        self.probe = ActivationProbe(self.module, (MixerBlock,), prefix=f"stage{self.stage}.")

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        if self.stage > 0:
            inp = torch.empty(len(x), self.args.dim)
            dist.recv(inp, src=self.stage - 1)
            inp.requires_grad_()
        else:
            inp = x
        out = self.module(inp)
        loss = None
        if self.stage < self.last:
            dist.send(out.detach(), dst=self.stage + 1)
            grad = torch.empty_like(out)
            dist.recv(grad, src=self.stage + 1)
            out.backward(grad)
        else:
            loss = F.cross_entropy(out, y)
            loss.backward()
        if self.stage > 0:
            dist.send(inp.grad, dst=self.stage - 1)
        self.optimizer.step()
        return loss

    def fit(self):
        g = torch.Generator().manual_seed(3)
        w = torch.randn(10, 4, generator=g)
        for step in range(1, self.args.steps + 1):
            x = torch.randn(self.args.batch, 10, generator=g)
            loss = self.train_step(x, (x @ w).argmax(1))
            if loss is not None and step % 5 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
            if step % self.args.probe_every == 0:
                metrics = self.probe.gather_and_aggregate()
                if self.stage == 0:
                    with open("metrics.jsonl", "a") as f:
                        f.write(json.dumps({"step": step, **metrics}) + "\n")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--probe-every", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    dist.init_process_group("gloo")
    PipelineTrainer(args).fit()
    dist.barrier()
    dist.destroy_process_group()
