import torch
import torch.nn.functional as F


class VSE:
    """The model with its modes, its optimizer and its counter of iterations."""

    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.iterations = 0

    def train_start(self):
        self.model.train()

    def val_start(self):
        self.model.eval()

    def train_emb(self, x, y):
        self.iterations += 1
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def scores(self, x):
        return self.model(x)
