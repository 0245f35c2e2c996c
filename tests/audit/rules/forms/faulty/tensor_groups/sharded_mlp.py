import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from groups import Layout, PartSum


class SplitMLP(nn.Module):
    def __init__(self, dim, hidden, layout):
        super().__init__()
        self.layout = layout
        torch.manual_seed(1000 + layout.part)
        self.up = nn.Linear(dim, hidden // layout.parts)
        self.down = nn.Linear(hidden // layout.parts, 1, bias=False)

    def forward(self, x):
        return PartSum.apply(self.down(torch.relu(self.up(x))), self.layout.part_group)


def fresh(batch, dim, layout, gen):
    x = torch.empty(batch, dim)
    if layout.part == 0:
        x.normal_(generator=gen)
    return layout.share_batch(x)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--parts", type=int, default=2)
    ap.add_argument("--steps", type=int, default=500)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    layout = Layout(args.parts)
    net = SplitMLP(32, 256, layout)
    opt = torch.optim.SGD(net.parameters(), 0.01)
    gen = torch.Generator().manual_seed(layout.replica)
    for step in range(args.steps):
        x = fresh(64, 32, layout, gen)
        loss = (net(x).squeeze(-1) - x.sin().sum(-1)).square().mean()
        opt.zero_grad()
        loss.backward()
        layout.average(net.parameters())
        opt.step()
        if step % 100 == 0 and dist.get_rank() == 0:
            print(step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
