import logging

import torch

log = logging.getLogger("keeper")


def to_host(state):
    return {name: value.detach().to("cpu") for name, value in state.items()}


class BestKeeper:
    """Remembers the weights with the lowest validation loss and puts them back at the end."""

    def __init__(self, patience):
        self.patience, self.bad = patience, 0
        self.best, self.weights, self.when = float("inf"), None, None

    def offer(self, model, loss, epoch):
        if loss < self.best - 1e-4:
            self.best, self.when, self.bad = loss, epoch, 0
            self.weights = to_host(model.state_dict())
            return True
        self.bad += 1
        return False

    @property
    def exhausted(self):
        return self.bad >= self.patience

    def restore(self, model):
        log.info("back to epoch %s with %.4f", self.when, self.best)
        model.load_state_dict(self.weights)
