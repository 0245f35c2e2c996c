import torch
from torch import nn


class HookLogger:
    """Collects Kronecker factors and Fisher information with forward and backward hooks."""

    def __init__(self, config, state):
        self.config, self.state = config, state
        self._handles = []
        for direction in config.log_items:
            state.register(f"{direction}_counter", synchronize=True)
            state.register(f"{direction}_samples", synchronize=True)
            state.register(f"{direction}_covariance", synchronize=True, normalize_by=f"{direction}_counter")
            state.register(f"{direction}_fisher", synchronize=True, normalize_by=f"{direction}_counter")

    def watch(self, model):
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear) and module.in_features == module.out_features:
                self._handles.append(module.register_forward_pre_hook(self._forward(name)))
                self._handles.append(module.register_full_backward_hook(self._backward(name)))

    def _add(self, direction, name, rows):
        rows = rows.detach()
        getattr(self.state, f"{direction}_covariance")[name] += rows.t() @ rows
        getattr(self.state, f"{direction}_fisher")[name] += (rows**2).t() @ (rows**2)
        getattr(self.state, f"{direction}_counter")[name] += 1
        getattr(self.state, f"{direction}_samples")[name] += rows.shape[0]

    def _forward(self, name):
        def hook(module, inputs):
            self._add("forward", name, inputs[0])

        return hook

    def _backward(self, name):
        def hook(module, grad_input, grad_output):
            self._add("backward", name, grad_output[0])

        return hook

    def finalize(self):
        for handle in self._handles:
            handle.remove()
        self.state.synchronize()
        self.state.normalize()
