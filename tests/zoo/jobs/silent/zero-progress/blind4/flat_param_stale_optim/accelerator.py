"""Makes training objects ready for several ranks."""
import torch

from flat import FlatUnit


class MiniAccelerator:
    def __init__(self, use_flat_params=True):
        self.use_flat_params = use_flat_params
        self.units = []

    def prepare_model(self, model):
        if not self.use_flat_params:
            return model
        unit = FlatUnit(model)
        self.units.append(unit)
        return unit

    def prepare(self, *objects):
        ready = []
        for thing in objects:
            if isinstance(thing, torch.nn.Module):
                thing = self.prepare_model(thing)
            ready.append(thing)
        return tuple(ready)

    def backward(self, loss):
        loss.backward()
        for unit in self.units:
            unit.reduce_grad()
