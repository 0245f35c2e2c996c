import torch
import torch.distributed as dist


class DESLOCAdamW(torch.optim.AdamW):
    """AdamW with desynchronised low communication: local steps, periodic averaging."""

    def __init__(self, params, cfg):
        super().__init__(params, lr=cfg.lr, betas=cfg.betas)
        self.kx, self.ku = cfg.kx, cfg.ku
        self.global_step = 0

    @torch.no_grad()
    def step(self, closure=None):
        loss = super().step(closure)
        self.global_step += 1
        return loss

    def _average(self, tensors):
        flat = torch.cat([t.reshape(-1) for t in tensors])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        for tensor, part in zip(tensors, flat.split([t.numel() for t in tensors])):
            tensor.copy_(part.view_as(tensor))

    @torch.no_grad()
    def sync_if_needed(self):
        params = [p for group in self.param_groups for p in group["params"]]
        if self.global_step and self.global_step % self.kx == 0:
            self._average(params)
        if self.global_step and self.global_step % self.ku == 0:
            self._average([self.state[p]["exp_avg"] for p in params])
