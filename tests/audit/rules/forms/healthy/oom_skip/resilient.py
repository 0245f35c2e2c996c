import logging

import torch

log = logging.getLogger(__name__)


class ResilientStep:
    def __init__(self, model, optimizer, criterion):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion

    def __call__(self, batch):
        tokens, labels = batch
        try:
            loss = self.criterion(self.model(tokens), labels)
            loss.backward()
        except torch.cuda.OutOfMemoryError:
            log.error("batch of shape %s did not fit", tuple(tokens.shape))
            raise
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()
