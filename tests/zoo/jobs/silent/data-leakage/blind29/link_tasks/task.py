import torch
import torch.nn as nn
import torch.nn.functional as F

from graph import community_graph, normalized_adjacency, sample_non_edges


class GCNEncoder(nn.Module):
    def __init__(self, nodes, dim):
        super().__init__()
        self.emb = nn.Embedding(nodes, dim)
        self.lin1, self.lin2 = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, adj):
        h = F.relu(torch.sparse.mm(adj, self.lin1(self.emb.weight)))
        h = F.dropout(h, 0.2, training=self.training)
        return torch.sparse.mm(adj, self.lin2(h))


def auc(pos, neg):
    score = torch.cat([pos, neg])
    rank = torch.empty_like(score)
    rank[score.argsort()] = torch.arange(1, len(score) + 1, dtype=score.dtype)
    return ((rank[:len(pos)].sum() - len(pos) * (len(pos) + 1) / 2) / (len(pos) * len(neg))).item()


class LinkPrediction:
    def __init__(self, args):
        self.args = args
        torch.manual_seed(args.seed)
        self.edge_index, _ = community_graph(args.nodes, seed=args.seed)
        self.gen = torch.Generator().manual_seed(args.seed)
        self.split()
        self.adj = normalized_adjacency(self.train_edges, args.nodes)
        self.model = GCNEncoder(args.nodes, args.hidden_size)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr, weight_decay=args.weight_decay)

    def split(self):
        total = self.edge_index.shape[1]
        order = torch.randperm(total, generator=self.gen)
        n_val, n_test = int(total * self.args.val_ratio), int(total * self.args.test_ratio)
        self.val_edges = self.edge_index[:, order[:n_val]]
        self.test_edges = self.edge_index[:, order[n_val:n_val + n_test]]
        self.train_edges = self.edge_index[:, order[n_val + n_test:]]
        self.val_neg = sample_non_edges(self.edge_index, self.args.nodes, n_val, self.gen)
        self.test_neg = sample_non_edges(self.edge_index, self.args.nodes, n_test, self.gen)

    def train_step(self):
        self.model.train()
        z = self.model(self.adj)
        pos = self.train_edges
        neg = torch.randint(0, self.args.nodes, pos.shape)
        logits = torch.cat([self.score(z, pos), self.score(z, neg)])
        target = torch.cat([torch.ones(pos.shape[1]), torch.zeros(neg.shape[1])])
        loss = F.binary_cross_entropy_with_logits(logits, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @staticmethod
    def score(z, edges):
        return (z[edges[0]] * z[edges[1]]).sum(1)

    @torch.no_grad()
    def evaluate(self, pos, neg):
        self.model.eval()
        z = self.model(self.adj)
        return auc(self.score(z, pos), self.score(z, neg))

    def train(self):
        best, best_state, waited = 0.0, None, 0
        for epoch in range(self.args.max_epoch):
            loss = self.train_step()
            if epoch % self.args.evaluate_interval:
                continue
            val = self.evaluate(self.val_edges, self.val_neg)
            print(f"epoch {epoch:3d} loss {loss:.4f} val auc {val:.4f}", flush=True)
            if val > best:
                best, waited = val, 0
                best_state = {k: v.clone() for k, v in self.model.state_dict().items()}
            else:
                waited += 1
                if waited == self.args.patience:
                    break
        self.model.load_state_dict(best_state)
        return {"AUC": self.evaluate(self.test_edges, self.test_neg)}
