from dataclasses import dataclass

import torch


@dataclass
class StepResult:
    loss: float
    grad_norm: float
    applied: bool


class AmpStepper:
    def __init__(self, model, optimizer, clip=1.0, reject=100.0):
        self.model = model
        self.optimizer = optimizer
        self.clip = clip
        self.reject = reject
        self.scaler = torch.amp.GradScaler("cuda", init_scale=2.0**14)

    def __call__(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip).item()
        if norm > self.reject:
            self.optimizer.zero_grad(set_to_none=True)
            self.scaler.update()
            return StepResult(loss.item(), norm, False)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return StepResult(loss.item(), norm, True)
