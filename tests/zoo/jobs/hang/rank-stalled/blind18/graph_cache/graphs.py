import os

import torch

from locks import exclusive


class NeighbourCache:
    def __init__(self, root, nodes, degree):
        self.root, self.nodes, self.degree = root, nodes, degree
        os.makedirs(root, exist_ok=True)

    def path(self, part):
        return os.path.join(self.root, f"nbr_{part}.pt")

    def build(self, part):
        g = torch.Generator().manual_seed(part)
        return torch.randint(self.nodes, (self.nodes, self.degree), generator=g)

    def load(self, part):
        p = self.path(part)
        with exclusive(p):
            if not os.path.exists(p):
                torch.save(self.build(part), p)
            return torch.load(p)
