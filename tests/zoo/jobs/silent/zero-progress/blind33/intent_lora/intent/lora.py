"""Low-rank adapters for the linear layers of a frozen encoder."""
import math

import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.rank, self.scale = rank, alpha / rank
        self.lora_a = nn.ParameterDict()
        self.lora_b = nn.ParameterDict()
        self.active = None

    def add(self, name):
        a = torch.empty(self.rank, self.base.in_features)
        nn.init.kaiming_uniform_(a, a=math.sqrt(5))
        self.lora_a[name] = nn.Parameter(a)
        self.lora_b[name] = nn.Parameter(torch.zeros(self.base.out_features, self.rank))

    def remove(self, name):
        del self.lora_a[name], self.lora_b[name]

    def activate(self, name, inference_mode=False):
        self.active = name
        for table in (self.lora_a, self.lora_b):
            for key, p in table.items():
                p.requires_grad_(key == name and not inference_mode)

    def forward(self, x):
        out = self.base(x)
        if self.active is not None:
            out = out + self.scale * (x @ self.lora_a[self.active].T @ self.lora_b[self.active].T)
        return out


class AdapterManager:
    def __init__(self, model, targets, rank, alpha):
        self.layers = {}
        for name, module in list(model.named_modules()):
            for child_name, child in list(module.named_children()):
                if isinstance(child, nn.Linear) and child_name in targets:
                    wrapped = LoraLinear(child, rank, alpha)
                    setattr(module, child_name, wrapped)
                    self.layers[f"{name}.{child_name}"] = wrapped

    @property
    def active(self):
        return next(iter(self.layers.values())).active

    def add_adapter(self, name):
        for layer in self.layers.values():
            layer.add(name)

    def delete_adapter(self, name):
        for layer in self.layers.values():
            layer.remove(name)

    def set_adapter(self, name, inference_mode=False):
        for layer in self.layers.values():
            layer.activate(name, inference_mode)

    def state_dict(self, name):
        out = {}
        for key, layer in self.layers.items():
            out[f"{key}.a"] = layer.lora_a[name].detach().clone()
            out[f"{key}.b"] = layer.lora_b[name].detach().clone()
        return out

    @torch.no_grad()
    def load_adapter(self, name, state, inference_mode=True):
        self.add_adapter(name)
        for key, layer in self.layers.items():
            layer.lora_a[name].copy_(state[f"{key}.a"])
            layer.lora_b[name].copy_(state[f"{key}.b"])
        self.set_adapter(self.active, inference_mode=inference_mode)

    def save_pretrained(self, path, initial):
        """Writes the change since `initial` as one adapter of twice the rank."""
        self.load_adapter("initial", initial)
        state = {}
        for key, layer in self.layers.items():
            state[f"{key}.a"] = torch.cat([layer.lora_a[self.active], layer.lora_a["initial"]]).detach()
            state[f"{key}.b"] = torch.cat([layer.lora_b[self.active], -layer.lora_b["initial"]], 1).detach()
        self.delete_adapter("initial")
        torch.save(state, path)
