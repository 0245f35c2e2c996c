import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F

log = logging.getLogger("asr")


class Engine:
    def __init__(self, model, optimizer, device, clip=5.0):
        self.model = model
        self.optimizer = optimizer
        self.device = device
        self.clip = clip
        self.skipped = 0

    def loss(self, batch):
        feats, feat_lens, labels, label_lens = [t.to(self.device, non_blocking=True) for t in batch]
        logp = self.model(feats).log_softmax(-1).transpose(0, 1)
        return F.ctc_loss(logp, labels, feat_lens, label_lens, blank=0)

    def usable(self, loss):
        ok = torch.isfinite(loss).to(torch.int32)
        dist.all_reduce(ok, op=dist.ReduceOp.MIN)
        return bool(ok)

    def fit_batch(self, batch):
        loss = self.loss(batch)
        if not self.usable(loss):
            self.skipped += 1
            return None
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        return loss.detach()

    def fit_epoch(self, loader):
        self.model.train()
        total = torch.zeros(2, device=self.device)
        for batch in loader:
            loss = self.fit_batch(batch)
            if loss is not None:
                total += torch.stack([loss, torch.ones_like(loss)])
        dist.all_reduce(total)
        return (total[0] / total[1].clamp(min=1)).item()
