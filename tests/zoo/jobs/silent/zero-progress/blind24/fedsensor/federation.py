import copy
from concurrent.futures import ThreadPoolExecutor

import torch


class Federation:
    """FedAvg: the sites train copies in threads and leave their weights in `updates`."""

    def __init__(self, model, sites, threads=2):
        self.model, self.sites, self.threads = model, sites, threads
        self.updates = {}

    def local(self, site):
        model = copy.deepcopy(self.model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for x, y in site.batches():
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        self.updates[site.name] = (len(site), model.state_dict())

    def round(self):
        self.updates.clear()
        with ThreadPoolExecutor(self.threads) as pool:
            pool.map(self.local, self.sites)
        total = sum(n for n, _ in self.updates.values())
        if total:
            merged = {k: sum(n * s[k] for n, s in self.updates.values()) / total for k in self.model.state_dict()}
            self.model.load_state_dict(merged)
        return len(self.updates)
