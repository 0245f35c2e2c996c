import logging
import time

import torch
import torch.distributed as dist

log = logging.getLogger("qa")


def accuracy(model, x, y, pause=0.0):
    model.eval()
    hits = 0
    with torch.no_grad():
        for rows in torch.arange(len(x)).split(64):
            hits += (model(x[rows]).argmax(-1) == y[rows]).float().mean(1).sum().item()
            time.sleep(pause)
    model.train()
    return hits / len(x)


class Referee:
    """The first rank scores the whole dev set, decides, and tells the others."""

    def __init__(self, x, y, patience, pause):
        self.x, self.y, self.patience, self.pause = x, y, patience, pause
        self.best, self.bad = -1.0, 0

    def verdict(self, model, epoch):
        word = torch.zeros(1)
        if dist.get_rank() == 0:
            score = accuracy(model.module, self.x, self.y, self.pause)
            if score > self.best + 0.02:
                self.best, self.bad = score, 0
                torch.save(model.module.state_dict(), "best.pt")
            else:
                self.bad += 1
            word.fill_(float(self.bad >= self.patience))
            log.info("epoch %d accuracy %.3f best %.3f", epoch, score, self.best)
        dist.broadcast(word, src=0)
        return bool(word)
