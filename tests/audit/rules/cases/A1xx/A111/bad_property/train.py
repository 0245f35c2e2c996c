import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(8, 4), nn.Linear(6, 4)

    def forward(self, image, text):
        return self.image(image), self.text(text)

    def contrastive(self, image, text):
        return (self.image(image) - self.text(text)).square().mean()


class Fitter:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @property
    def net(self):
        return self.model.module if hasattr(self.model, "module") else self.model

    def step(self, image, text):
        loss = self.net.contrastive(image, text)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main(batches):
    fitter = Fitter(DDP(Pairs()))
    for image, text in batches:
        fitter.step(image, text)
