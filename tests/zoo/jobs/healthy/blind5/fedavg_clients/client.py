import copy

import torch
from torch import nn


class Client:
    """Holds private, non-iid data: each client mostly sees two of the six classes."""

    def __init__(self, cid, num_samples, batch_size=8, lr=0.08):
        g = torch.Generator().manual_seed(1000 + cid)
        means = torch.randn(6, 10, generator=torch.Generator().manual_seed(5)) * 1.5
        own = torch.randint(0, 2, (num_samples,), generator=g) + 2 * cid
        other = torch.randint(0, 6, (num_samples,), generator=g)
        self.y = torch.where(torch.rand(num_samples, generator=g) < 0.7, own, other)
        self.x = means[self.y] + torch.randn(num_samples, 10, generator=g)
        self.g, self.batch_size, self.lr = g, batch_size, lr

    def __len__(self):
        return len(self.y)

    def update(self, global_model, local_epochs):
        model = copy.deepcopy(global_model)
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=0.5)
        steps = 0
        for _ in range(local_epochs):
            for idx in torch.randperm(len(self), generator=self.g).split(self.batch_size):
                loss = nn.functional.cross_entropy(model(self.x[idx]), self.y[idx])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
        return model, loss.item(), steps
