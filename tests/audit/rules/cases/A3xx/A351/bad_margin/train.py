import numpy as np
import torch


class Monitor:
    def __init__(self, mode, min_delta, path):
        self.monitor_op = np.less if mode == "min" else np.greater
        self.best, self.min_delta, self.path = None, min_delta, path
        self.wait = 0

    def update(self, current, model):
        if self.best is None or self.monitor_op(current, self.best - self.min_delta):
            self.wait = 0
            torch.save(model.state_dict(), self.path)
        else:
            self.wait += 1
        self.best = current


def by_a_thousandth(model, train_one_epoch, validate, epochs):
    lowest = float("inf")
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss < 0.999 * lowest:
            torch.save(model.state_dict(), "model.pt")
        lowest = loss


def by_a_step(model, train_one_epoch, validate, epochs, least):
    highest = 0.0
    for epoch in range(epochs):
        train_one_epoch(model)
        accuracy = validate(model)
        if accuracy > highest + least:
            torch.save(model.state_dict(), "model.pt")
        highest = accuracy
