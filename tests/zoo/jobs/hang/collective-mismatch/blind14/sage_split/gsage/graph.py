import torch


class SyntheticGraph:
    """Small community graph in CSR form, with node features and labels."""

    def __init__(self, num_nodes=2400, communities=6, dim=32, seed=11):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, communities, (num_nodes,), generator=g)
        centers = torch.randn(communities, dim, generator=g)
        self.feat = centers[self.labels] * 0.6 + torch.randn(num_nodes, dim, generator=g)
        order = torch.argsort(self.labels)
        rows = []
        for c in range(communities):
            members = order[self.labels[order] == c]
            pick = torch.randint(0, len(members), (len(members), 12), generator=g)
            rows.append((members, members[pick]))
        self.neigh = torch.empty(num_nodes, 12, dtype=torch.long)
        for members, nb in rows:
            self.neigh[members] = nb
        self.train_mask = torch.rand(num_nodes, generator=g) < 0.65

    @property
    def num_classes(self):
        return int(self.labels.max()) + 1

    def train_nodes(self):
        return self.train_mask.nonzero(as_tuple=True)[0][:1490]

    def eval_nodes(self):
        return (~self.train_mask).nonzero(as_tuple=True)[0]
