import argparse

import torch
import torch.nn.functional as F

from graph import interaction_graph, negatives, normalised_adjacency, split_links
from sage import GCN, LinkPredictor


def auc(pos, neg):
    scores = torch.cat([pos, neg])
    rank = scores.argsort().argsort().float() + 1
    n, m = len(pos), len(neg)
    return ((rank[:n].sum() - n * (n + 1) / 2) / (n * m)).item()


class Run:
    def __init__(self, args):
        self.args = args
        torch.manual_seed(args.seed)
        self.x, edges = interaction_graph()
        self.n = len(self.x)
        self.gen = torch.Generator().manual_seed(args.seed)
        self.split = split_links(edges, 0.1, 0.2)
        self.neg = {k: negatives(self.split[k].shape[1], self.n, edges, self.gen) for k in ("valid", "test")}
        self.adj_t = normalised_adjacency(edges, self.n)
        self.model, self.predictor = GCN(self.n, self.x.shape[1], args.hidden), LinkPredictor(args.hidden)
        params = [*self.model.parameters(), *self.predictor.parameters()]
        self.optimizer = torch.optim.Adam(params, lr=args.lr)

    def train_epoch(self):
        self.model.train()
        self.predictor.train()
        pos_all, losses = self.split["train"], []
        for idx in torch.randperm(pos_all.shape[1], generator=self.gen).split(self.args.batch_size):
            pos = pos_all[:, idx]
            neg = torch.randint(self.n, pos.shape, generator=self.gen)
            h = self.model(self.x, self.adj_t)
            loss = F.softplus(-self.predictor(h, pos)).mean() + F.softplus(self.predictor(h, neg)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    @torch.no_grad()
    def test(self, name):
        self.model.eval()
        self.predictor.eval()
        h = self.model(self.x, self.adj_t)
        return auc(self.predictor(h, self.split[name]), self.predictor(h, self.neg[name]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--batch-size", type=int, default=512)
    p.add_argument("--seed", type=int, default=1)
    run = Run(p.parse_args())
    best = (0.0, 0.0)
    for epoch in range(1, run.args.epochs + 1):
        loss = run.train_epoch()
        if epoch % 5 == 0:
            valid, test = run.test("valid"), run.test("test")
            best = max(best, (valid, test))
            print(f"epoch {epoch:03d} loss {loss:.4f} valid AUC {valid:.4f} test AUC {test:.4f}", flush=True)
    print(f"best valid AUC {best[0]:.4f}, its test AUC {best[1]:.4f}")


if __name__ == "__main__":
    main()
