import torch


class AmpStepper:
    """Mixed precision with loss scaling and clipping, for one optimizer."""

    def __init__(self, model, optimizer, max_norm, enabled=True):
        self.model, self.optimizer, self.max_norm = model, optimizer, max_norm
        self.enabled = enabled
        self.scaler = torch.amp.GradScaler("cpu", enabled=enabled)

    def autocast(self):
        return torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.enabled)

    def step(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
