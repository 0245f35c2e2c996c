from collections import defaultdict

import torch
import torch.distributed as dist


class ActivationProbe:
    """Collects the statistics of monitored layers and merges them over all ranks."""

    def __init__(self, module, kinds, prefix=""):
        self.buffer = defaultdict(list)
        self.handles = []
        for name, child in module.named_modules():
            if isinstance(child, kinds):
                self.handles.append(child.register_forward_hook(self._hook(prefix + name)))

    def _hook(self, name):
        def fn(_module, _inputs, output):
            with torch.no_grad():
                self.buffer[f"{name}/rms"].append(output.pow(2).mean().sqrt().item())
                self.buffer[f"{name}/max"].append(output.abs().max().item())
        return fn

    def drain(self):
        local = {k: sum(v) / len(v) for k, v in self.buffer.items()}
        self.buffer.clear()
        return local

    def gather_and_aggregate(self):
        local = self.drain()
        if not local:
            return {}
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, local)
        merged = {}
        for part in parts:
            merged.update(part)
        return merged
