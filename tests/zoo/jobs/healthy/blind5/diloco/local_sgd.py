import torch
import torch.distributed as dist


class DiLoCo:
    """Inner steps stay local; every ``sync_every`` of them the averaged pseudo-gradient feeds the outer optimizer."""

    def __init__(self, model, inner_optimizer, outer_optimizer, sync_every):
        self._model = model
        self._inner = inner_optimizer
        self._outer = outer_optimizer
        self._sync_every = sync_every
        self._local_step = 0
        self._hook = None
        self.outer_steps = 0

    def __enter__(self):
        self._save_parameters()
        self._hook = self._inner.register_step_post_hook(self._step_post_hook)
        return self

    def __exit__(self, exc_type, exc, tb):
        self._hook.remove()
        return False

    @torch.no_grad()
    def _save_parameters(self):
        self._backup = [p.detach().clone() for p in self._model.parameters()]

    def _step_post_hook(self, _optim, _args, _kwargs):
        self._local_step += 1
        if self._local_step == self._sync_every:
            self.sync()
            self._local_step = 0

    @torch.no_grad()
    def sync(self):
        world_size = dist.get_world_size()
        for p, old in zip(self._model.parameters(), self._backup):
            pseudogradient = old - p
            dist.all_reduce(pseudogradient)
            p.copy_(old)
            p.grad = pseudogradient / world_size
        self._outer.step()
        self._outer.zero_grad()
        self.outer_steps += 1
        self._save_parameters()
