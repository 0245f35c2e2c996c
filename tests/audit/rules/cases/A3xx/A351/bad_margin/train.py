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
