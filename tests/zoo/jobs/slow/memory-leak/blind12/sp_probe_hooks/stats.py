import torch


class ActivationProbe:
    """Keeps running mean and variance of each layer's output for the dashboard."""

    def __init__(self):
        self.summary = {}

    def _observe(self, name):
        def hook(module, inputs, output):
            flat = output.detach().flatten(1)
            q = torch.quantile(flat, torch.tensor([0.05, 0.5, 0.95]), dim=1)
            self.summary[name] = (flat.mean().item(), flat.var().item(), q.mean(1).tolist())
        return hook

    def attach(self, model):
        for name, module in model.named_modules():
            if isinstance(module, (torch.nn.Conv1d, torch.nn.Linear)):
                module.register_forward_hook(self._observe(name))
        return self
