import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from recipe.losses import NoValidTargets, masked_loss


class AccumulatingTrainer:
    def __init__(self, model, accumulate, lr):
        self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.accumulate = accumulate
        self.micro = self.updates = self.skipped = 0
        self.losses = []

    def train_epoch(self, batches):
        for tokens, labels in batches:
            last = (self.micro + 1) % self.accumulate == 0
            try:
                with contextlib.nullcontext() if last else self.model.no_sync():
                    loss = masked_loss(self.model(tokens), labels)
                    loss.backward()
            except NoValidTargets:
                self.skipped += 1
                continue
            self.losses.append(loss.item())
            self.micro += 1
            if last:
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.updates += 1

    def report(self):
        mine = {"updates": self.updates, "skipped": self.skipped, "loss": sum(self.losses) / len(self.losses)}
        everyone = [None] * dist.get_world_size()
        dist.all_gather_object(everyone, mine)
        self.losses.clear()
        return everyone
