import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP

from meters import CrossRankMean
from molecules import AtomBudgetBatches


class GCN(nn.Module):
    def __init__(self, h=32):
        super().__init__()
        self.a, self.b, self.o = nn.Linear(8, h), nn.Linear(h, h), nn.Linear(h, 1)

    def forward(self, x, adj, seg, n):
        x = torch.relu(self.a(adj @ x))
        x = torch.relu(self.b(adj @ x))
        return self.o(x.new_zeros(n, x.shape[1]).index_add(0, seg, x)).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--count", type=int, default=900)
    ap.add_argument("--budget", type=int, default=90)
    ap.add_argument("--meter-every", type=int, default=2)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    net = DDP(GCN())
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    meter = CrossRankMean(a.meter_every)
    batches = AtomBudgetBatches(dist.get_rank(), a.count, a.budget)
    for epoch in range(a.epochs):
        with Join([net]):
            for it, (x, adj, seg, y) in enumerate(batches):
                loss = nn.functional.mse_loss(net(x, adj, seg, len(y)), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                shown = meter.push(loss.item())
                if dist.get_rank() == 0 and it % 40 == 0:
                    print(f"epoch {epoch} it {it} loss {shown:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
