import torch
from torch.distributed.fsdp import fully_shard

from model import Denoiser


class Ema:
    """An average that is sharded as the model is."""

    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = Denoiser()
        for block in self.shadow.blocks:
            fully_shard(block)
        fully_shard(self.shadow)
        self.shadow.load_state_dict(model.state_dict())
        self.shadow.requires_grad_(False)
        self.source = list(model.parameters())

    @torch.no_grad()
    def update(self):
        self.shadow.reshard()
        for kept, now in zip(self.shadow.parameters(), self.source):
            kept.lerp_(now.detach(), 1 - self.decay)
