import torch


class EMA:
    def __init__(self, model):
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.backup = {}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].lerp_(p.detach(), 0.001)

    def apply_shadow(self, model):
        for name, p in model.named_parameters():
            self.backup[name] = p.data
            p.data = self.shadow[name]

    def restore(self, model):
        for name, p in model.named_parameters():
            p.data = self.backup[name]
