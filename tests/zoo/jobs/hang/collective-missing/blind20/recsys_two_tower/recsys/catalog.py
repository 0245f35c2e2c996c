import json
import os

import torch


class Catalog:
    def __init__(self, users, items, seed):
        g = torch.Generator().manual_seed(seed)
        self.users = torch.randn(users, 6, generator=g)
        self.items = torch.randn(items, 6, generator=g)

    def export(self, path):
        """Nearest items of each item, for the serving side."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as handle:
            for index, item in enumerate(self.items):
                distance = (self.items - item).square().sum(1)
                near = distance.topk(11, largest=False).indices[1:].tolist()
                handle.write(json.dumps({"item": index, "near": near}) + "\n")

    def clicks(self, count, generator):
        users = torch.randint(len(self.users), (count,), generator=generator)
        shown = torch.randint(len(self.items), (count, 8), generator=generator)
        affinity = (self.users[users][:, None] * self.items[shown]).sum(-1)
        return users, shown.gather(1, affinity.argmax(1, keepdim=True)).squeeze(1)
