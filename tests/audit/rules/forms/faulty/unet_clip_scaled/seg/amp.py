from dataclasses import dataclass, field

import torch


@dataclass
class AmpStepper:
    optimizer: torch.optim.Optimizer
    max_norm: float | None = 1.0
    enabled: bool = True
    scaler: torch.amp.GradScaler = field(init=False)

    def __post_init__(self):
        self.scaler = torch.amp.GradScaler("cuda", enabled=self.enabled)

    def _params(self):
        for group in self.optimizer.param_groups:
            yield from group["params"]

    def _limit(self):
        if self.max_norm is None:
            return None
        return torch.nn.utils.clip_grad_norm_(list(self._params()), self.max_norm)

    def __call__(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        norm = self._limit()  # cause
        self.scaler.unscale_(self.optimizer)  # cause
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm

    def state_dict(self):
        return {"optimizer": self.optimizer.state_dict(), "scaler": self.scaler.state_dict()}
