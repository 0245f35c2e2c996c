import time

import torch


class Runner:
    def __init__(self, model, budget, logger):
        self.model, self.budget, self.logger = model, budget, logger
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        self.steps = 0

    def step(self):
        x = torch.randn(16, 12)
        self.optimizer.zero_grad()
        self.model(x).square().mean().backward()
        self.optimizer.step()
        time.sleep(0.05)
        self.steps += 1

    def run(self, max_steps):
        while self.steps < max_steps:
            self.step()
            if self.steps % 20 == 0:
                self.logger.log(f"step {self.steps}")
            if self.budget.spent(self.steps):
                self.logger.log("budget spent")
                break
