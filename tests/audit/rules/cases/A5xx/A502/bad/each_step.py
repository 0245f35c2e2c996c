import logging

import torch

log = logging.getLogger(__name__)


class Session:
    def __init__(self):
        self.model = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self, batch):
        self.optimizer.zero_grad()
        self.model(batch).sum().backward()
        self.optimizer.step()

    def run(self, batches):
        skipped = 0
        for batch in batches:
            try:
                self.step(batch)
            except RuntimeError as error:
                skipped += 1
                log.warning("batch left out: %s", error)
