from collections import defaultdict

import torch


class ActivationProbe:
    """Collects layer outputs by hooks and summarises them every so often."""

    def __init__(self, model, kinds, every=50):
        self.every, self.calls = every, 0
        self.store = defaultdict(list)
        self.handles = [m.register_forward_hook(self._hook(n)) for n, m in model.named_modules() if isinstance(m, kinds)]

    def _hook(self, name):
        def keep(module, args, output):
            if module.training:
                self.store[name].append(output.detach())
        return keep

    def summary(self):
        return {name: (outputs[-1].mean().item(), outputs[-1].std().item()) for name, outputs in self.store.items()}

    def tick(self):
        self.calls += 1
        if self.calls % self.every:
            return None
        return self.summary()
