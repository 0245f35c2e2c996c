from dataclasses import dataclass

import torch


@dataclass
class OptimConfig:
    lr: float = 5e-4
    weight_decay: float = 0.05
    clip: float = 1.0
    warmup: int = 500


def warmup_factor(cfg):
    def factor(step):
        return min(1.0, (step + 1) / cfg.warmup)

    return factor


class Stepper:
    def __init__(self, model, cfg):
        self.cfg = cfg
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.params, lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, warmup_factor(cfg))
        self.scaler = torch.amp.GradScaler("cuda")

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def step(self):
        norm = None
        if self.cfg.clip > 0:
            self.scaler.unscale_(self.optimizer)
            norm = torch.nn.utils.clip_grad_norm_(self.params, self.cfg.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.scheduler.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm
