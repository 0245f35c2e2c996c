import os

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from gnn import GraphNet


def graphs(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    density = (y.float() * 0.2 + 0.15)[:, None, None]
    adj = (torch.rand(n, 12, 12, generator=g) < density).float()
    adj = ((adj + adj.transpose(1, 2)) > 0).float()
    x = torch.randn(n, 12, 6, generator=g)
    x[..., 0] = adj.sum(-1) / 6
    return TensorDataset(x, adj, y)


def evaluate(net, loader):
    net.eval()
    totals = torch.zeros(3)
    with torch.no_grad():
        for x, adj, y in loader:
            logits = net(x, adj)
            totals += torch.tensor([F.cross_entropy(logits, y, reduction="sum").item(),
                                    (logits.argmax(1) == y).sum().item(), len(y)])
    net.train()
    dist.all_reduce(totals)
    return totals[0] / totals[2], totals[1] / totals[2]


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(int(os.environ.get("SEED", 5)))
    train, test = graphs(1920, 1), graphs(384, 2)
    sampler = DistributedSampler(train)
    train_loader = DataLoader(train, 24, sampler=sampler)
    test_loader = DataLoader(test, 48, sampler=DistributedSampler(test, shuffle=False))
    net = GraphNet()
    ddp = DistributedDataParallel(net)
    opt = torch.optim.Adam(ddp.parameters(), lr=4e-3)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        ddp.train()
        for x, adj, y in train_loader:
            loss = F.cross_entropy(ddp(x, adj), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        test_loss, acc = evaluate(net, test_loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} train {loss.item():.4f} test {test_loss:.4f} acc {acc:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
