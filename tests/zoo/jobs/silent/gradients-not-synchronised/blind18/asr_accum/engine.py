import contextlib
import logging

import torch
import torch.distributed as dist

log = logging.getLogger(__name__)


class Engine:
    def __init__(self, model, criterion, opt, plan, clip):
        self.model, self.criterion, self.opt, self.plan, self.clip = model, criterion, opt, plan, clip
        self.updates = 0

    def quiet(self, batch_idx, accum):
        if batch_idx % accum != 0:
            return self.model.no_sync()
        return contextlib.nullcontext()

    def epoch(self, epoch, loader):
        accum = self.plan.factor(epoch)
        stats = torch.zeros(2)
        for batch_idx, (feats, labels) in enumerate(loader):
            with self.quiet(batch_idx, accum):
                loss = self.criterion(self.model(feats), labels)
                (loss / accum).backward()
            if (batch_idx + 1) % accum == 0:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.opt.step()
                self.opt.zero_grad()
                self.updates += 1
            stats += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(stats)
        if dist.get_rank() == 0:
            log.info("epoch %d accum %d updates %d loss %.4f", epoch, accum, self.updates, stats[0] / stats[1])
