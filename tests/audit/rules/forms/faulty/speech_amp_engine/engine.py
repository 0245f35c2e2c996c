from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class EngineConfig:
    lr: float = 5e-4
    clip: float = 1.0
    amp: bool = True
    log_every: int = 50


class Engine:
    def __init__(self, model, device, cfg: EngineConfig):
        self.model, self.device, self.cfg = model, device, cfg
        self.opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
        self.scaler = torch.amp.GradScaler("cuda", enabled=cfg.amp)
        self.ctc = nn.CTCLoss(zero_infinity=True)
        self.global_step = 0

    def forward_loss(self, batch):
        feats, targets, in_len, out_len = (t.to(self.device, non_blocking=True) for t in batch)
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.cfg.amp):
            logits = self.model(feats)
        logp = logits.float().log_softmax(-1).transpose(0, 1)
        return self.ctc(logp, targets, in_len, out_len)

    def limit(self):
        return nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)  # cause

    def apply(self):
        norm = self.limit()  # cause
        self.scaler.step(self.opt)  # cause
        self.scaler.update()
        self.opt.zero_grad(set_to_none=True)
        self.global_step += 1
        return norm

    def train_step(self, batch):
        loss = self.forward_loss(batch)
        self.scaler.scale(loss).backward()
        norm = self.apply()
        return loss.detach(), norm

    def state_dict(self):
        return {"model": self.model.module.state_dict(), "opt": self.opt.state_dict(),
                "scaler": self.scaler.state_dict(), "step": self.global_step}
