import copy

import torch
import torch.nn.functional as F

from gcn import GCN
from graph import citation_graph, loaders


class NodeClassification:
    def __init__(self, epochs=300, patience=100):
        torch.manual_seed(2)
        torch.set_num_threads(1)
        self.graph = citation_graph()
        self.loaders = loaders(self.graph)
        self.model = GCN(self.graph.features.shape[1], 128, 6)
        self.optimizer = torch.optim.Adam(
            [
                {"params": self.model.first.parameters(), "weight_decay": 5e-4},
                {"params": self.model.second.parameters(), "weight_decay": 0.0},
            ],
            lr=0.01,
        )
        self.epochs, self.patience = epochs, patience

    def train_epoch(self):
        self.model.train()
        for x, y, mask in self.loaders["train"]:
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x, self.graph.adjacency)[mask], y[mask])
            loss.backward()
            self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, name):
        self.model.eval()
        for x, y, mask in self.loaders[name]:
            return (self.model(x, self.graph.adjacency).argmax(1)[mask] == y[mask]).float().mean().item()

    def fit(self):
        best, state, since = 0.0, None, 0
        for epoch in range(self.epochs):
            loss = self.train_epoch()
            score = self.evaluate("val")
            since += 1
            if score > best:
                best, state, since = score, copy.deepcopy(self.model.state_dict()), 0
            if epoch % 25 == 0:
                print(f"epoch {epoch} loss {loss:.4f} val {score:.3f}", flush=True)
            if since > self.patience:
                break
        self.model.load_state_dict(state)
        print(f"best val {best:.3f} test {self.evaluate('test'):.3f}", flush=True)


if __name__ == "__main__":
    NodeClassification().fit()
