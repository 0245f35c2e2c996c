"""Node classification on one citation graph."""
import argparse
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


@dataclass
class Graph:
    x: torch.Tensor
    adj: torch.Tensor
    y: torch.Tensor
    train_mask: torch.Tensor
    val_mask: torch.Tensor
    test_mask: torch.Tensor


def citation_graph(n=900, classes=6, feats=120, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    same = (y[:, None] == y[None]).float()
    a = (torch.rand(n, n, generator=g) < 0.0015 + 0.004 * same).float().triu(1)
    a = a + a.T + torch.eye(n)
    deg = a.sum(1).rsqrt()
    topics = (torch.rand(classes, feats, generator=g) < 0.1).float()
    x = ((torch.rand(n, feats, generator=g) < 0.06).float() + topics[y] * (torch.rand(n, feats, generator=g) < 0.1)).clamp(max=1)
    order = torch.randperm(n, generator=g)
    masks = [torch.zeros(n, dtype=torch.bool) for _ in range(3)]
    for mask, part in zip(masks, (order[:120], order[120:420], order[420:])):
        mask[part] = True
    return Graph(x, deg[:, None] * a * deg[None], y, *masks)


class GCN(nn.Module):
    def __init__(self, feats, hidden, classes, p):
        super().__init__()
        self.lin1, self.lin2, self.p = nn.Linear(feats, hidden), nn.Linear(hidden, classes), p

    def forward(self, graph):
        h = F.dropout(graph.x, self.p, self.training)
        h = F.relu(graph.adj @ self.lin1(h))
        h = F.dropout(h, self.p, self.training)
        return graph.adj @ self.lin2(h)


def train_step(model, graph, opt):
    model.train()
    opt.zero_grad()
    out = model(graph)
    loss = F.cross_entropy(out, graph.y)
    loss.backward()
    opt.step()
    return loss.item()


@torch.no_grad()
def test(model, graph):
    model.eval()
    ok = model(graph).argmax(1) == graph.y
    return [ok[m].float().mean().item() for m in (graph.train_mask, graph.val_mask, graph.test_mask)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--dropout", type=float, default=0.3)
    ap.add_argument("--epochs", type=int, default=200)
    args = ap.parse_args()
    torch.manual_seed(0)
    graph = citation_graph()
    model = GCN(graph.x.size(1), args.hidden, 6, args.dropout)
    opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best_val = best_test = 0.0
    for epoch in range(1, args.epochs + 1):
        loss = train_step(model, graph, opt)
        train_acc, val_acc, test_acc = test(model, graph)
        if val_acc > best_val:
            best_val, best_test = val_acc, test_acc
        if epoch % 20 == 0:
            print(f"epoch {epoch:03d} loss {loss:.4f} train {train_acc:.3f} val {val_acc:.3f} test {test_acc:.3f}", flush=True)
    print(f"selected: val {best_val:.4f} test {best_test:.4f}")


if __name__ == "__main__":
    main()
