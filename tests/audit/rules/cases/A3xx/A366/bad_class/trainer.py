import numpy as np
import torch
from sklearn.model_selection import KFold


class Trainer:
    def __init__(self, config, model):
        self.config, self.model = config, model
        self.loss = torch.nn.MSELoss()

    def fit(self, x, y):
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.config.lr)
        for _ in range(self.config.epochs):
            for part in torch.randperm(len(x)).split(64):
                self.optimizer.zero_grad(set_to_none=True)
                self.loss(self.model(x[part]), y[part]).backward()
                self.optimizer.step()

    @torch.no_grad()
    def score(self, x, y):
        return self.loss(self.model(x), y).item()

    def cross_validate(self, x, y):
        splits = KFold(n_splits=self.config.folds, shuffle=True, random_state=0).split(x)
        scores = []
        for train, val in splits:
            self.fit(x[train], y[train])
            scores.append(self.score(x[val], y[val]))
        return np.mean(scores)
