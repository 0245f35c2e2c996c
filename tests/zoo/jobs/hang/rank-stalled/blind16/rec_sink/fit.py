import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from sinks import HistogramSink, JsonlSink, MetricBus, NullBus
from two_tower import Interactions, TwoTower


class Loop:
    def __init__(self, a):
        self.a = a
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.net = DDP(TwoTower(500, 400, 24))
        self.opt = torch.optim.Adagrad(self.net.parameters(), lr=0.1)
        self.data = Interactions(self.rank, 500, 400)
        self.bus = MetricBus([JsonlSink("metrics.jsonl"), HistogramSink()]) if self.rank == 0 else NullBus()

    def step(self, k):
        u, i = self.data.batch(128)
        logits = self.net(u, i)
        loss = nn.functional.cross_entropy(logits, torch.arange(len(u)))
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        top = logits.argmax(1)[:4]
        self.bus.emit(step=k, loss=round(loss.item(), 4), pop=self.data.clicks[i[top]].tolist())
        return loss

    def run(self):
        for k in range(self.a.steps):
            loss = self.step(k)
            if self.rank == 0 and k % 50 == 0:
                print(f"step {k} loss {loss.item():.3f}", flush=True)
        self.bus.close()
        dist.barrier()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=900)
    dist.init_process_group("gloo")
    Loop(p.parse_args()).run()
    dist.destroy_process_group()
