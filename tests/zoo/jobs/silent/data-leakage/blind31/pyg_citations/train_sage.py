import argparse
import copy

import torch
from torch import nn
import torch.nn.functional as F

from graph import citation_graph
from loader import NeighborLoader


class SAGEConv(nn.Module):
    def __init__(self, din, dout):
        super().__init__()
        self.lin_l, self.lin_r = nn.Linear(din, dout), nn.Linear(din, dout, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        agg = torch.zeros_like(x).index_add_(0, dst, x[src])
        deg = torch.bincount(dst, minlength=x.size(0)).clamp(min=1).unsqueeze(1)
        return self.lin_l(agg / deg) + self.lin_r(x)


class SAGE(nn.Module):
    def __init__(self, din, hidden, classes, dropout):
        super().__init__()
        self.conv1, self.conv2 = SAGEConv(din, hidden), SAGEConv(hidden, classes)
        self.dropout = dropout

    def forward(self, x, edge_index):
        x = F.dropout(self.conv1(x, edge_index).relu(), self.dropout, self.training)
        return self.conv2(x, edge_index)


def train(model, loader, opt):
    model.train()
    total = correct = seen = 0
    for batch in loader:
        opt.zero_grad()
        out = model(batch.x, batch.edge_index)[:batch.batch_size]
        y = batch.y[:batch.batch_size]
        loss = F.cross_entropy(out, y)
        loss.backward()
        opt.step()
        total += float(loss) * len(y)
        correct += int((out.argmax(-1) == y).sum())
        seen += len(y)
    return total / seen, correct / seen


@torch.no_grad()
def test(model, x, y, edge_index, masks):
    model.eval()
    pred = model(x, edge_index).argmax(-1)
    return {k: float((pred[m] == y[m]).float().mean()) for k, m in masks.items()}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch-size", type=int, default=50)
    p.add_argument("--num-neighbors", type=int, nargs="+", default=[8, 4])
    p.add_argument("--hidden", type=int, default=48)
    args = p.parse_args()
    torch.manual_seed(12345)
    torch.set_num_threads(1)
    x, y, edge_index, masks = citation_graph()
    train_loader = NeighborLoader(x, y, edge_index, args.num_neighbors, masks["train"], args.batch_size, shuffle=True)
    model = SAGE(x.size(1), args.hidden, int(y.max()) + 1, 0.3)
    opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, best_state = 0.0, None
    for epoch in range(1, args.epochs + 1):
        loss, acc = train(model, train_loader, opt)
        r = test(model, x, y, edge_index, masks)
        if r["val"] > best:
            best, best_state = r["val"], copy.deepcopy(model.state_dict())
        print(f"Epoch {epoch:02d} loss {loss:.4f} approx. train {acc:.3f} val {r['val']:.3f}", flush=True)
    model.load_state_dict(best_state)
    print(f"Final test accuracy {test(model, x, y, edge_index, masks)['test']:.3f}")
    torch.save(best_state, "sage.pt")


if __name__ == "__main__":
    main()
