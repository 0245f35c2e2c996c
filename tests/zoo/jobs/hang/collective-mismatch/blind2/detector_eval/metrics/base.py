import torch.distributed as dist

from .distributed import gather_all_tensors


class Metric:
    """Base class: states are registered, updated per batch and synchronised before compute."""

    def __init__(self, sync_on_compute=True):
        self._defaults, self._reductions = {}, {}
        self.sync_on_compute = sync_on_compute
        self._update_count = 0

    def add_state(self, name, default, dist_reduce_fx=None):
        self._defaults[name] = default
        self._reductions[name] = dist_reduce_fx
        setattr(self, name, list(default) if isinstance(default, list) else default.clone())

    def reset(self):
        self._update_count = 0
        for name, default in self._defaults.items():
            setattr(self, name, list(default) if isinstance(default, list) else default.clone())

    def _sync_dist(self):
        for name, reduction in self._reductions.items():
            state = getattr(self, name)
            if isinstance(state, list):
                gathered = [gather_all_tensors(element) for element in state]
                setattr(self, name, [t for ranks in zip(*gathered) for t in ranks])
            elif reduction == "sum":
                dist.all_reduce(state)

    def compute(self):
        if self.sync_on_compute and dist.is_initialized():
            self._sync_dist()
        return self._compute()
