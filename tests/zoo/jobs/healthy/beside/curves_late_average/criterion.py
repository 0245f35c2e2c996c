import torch
from torch.nn.functional import binary_cross_entropy_with_logits as bce


class GanLoss:
    def __init__(self, real=1.0, fake=0.0):
        self.real, self.fake = real, fake

    def _to(self, logits, value):
        return bce(logits, torch.full_like(logits, value))

    def critic(self, on_real, on_fake):
        return self._to(on_real, self.real) + self._to(on_fake, self.fake)

    def generator(self, on_fake):
        return self._to(on_fake, self.real)
