import os
import re

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from utils.config import Config
from utils.load_cache import get_loaders
from utils.net import Net


class Train:

    def __init__(self, project):
        self.config = Config(project)
        self.conf = self.config.load_config()
        self.rank = dist.get_rank()
        self.net = Net(self.conf)
        self.start_epoch = 0
        self._log("Search for history checkpoints...")
        state = [None]
        if self.rank == 0:
            state[0] = self._restore()
        dist.broadcast_object_list(state, src=0)
        if state[0] is not None:
            self.net.load_state_dict(state[0]["net"])
            self.start_epoch = state[0]["epoch"]
        self.model = DistributedDataParallel(self.net)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.conf["Train"]["LR"], momentum=0.9)
        self.train_loader, self.val_loader = get_loaders(self.conf, self.conf["Model"]["Classes"])

    def _log(self, text):
        if self.rank == 0:
            print(text, flush=True)

    def _restore(self):
        found = {}
        for name in os.listdir(self.config.checkpoints):
            match = re.fullmatch(r"checkpoint_captcha_(\d+)_(\d+)\.tar", name)
            if match:
                found[int(match[1]), int(match[2])] = name
        if not found:
            return None
        latest = found[max(found)]
        self._log(f"History checkpoint found: {latest}")
        return torch.load(os.path.join(self.config.checkpoints, latest), map_location="cpu")

    @torch.no_grad()
    def accuracy(self):
        hits = sum(int((self.net(x).argmax(1) == y).sum()) for x, y in self.val_loader)
        return hits / len(self.val_loader.dataset)

    def start(self):
        target = self.conf["Train"]["TARGET"]
        for epoch in range(self.start_epoch, target["Epoch"]):
            self.train_loader.sampler.set_epoch(epoch)
            for x, y in self.train_loader:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self._log(f"epoch {epoch} loss {loss.item():.4f} accuracy {self.accuracy():.3f}")
