import tempfile

import torch
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

from utils.checkpoint import CheckpointManager
from utils.dist import is_main_process, print_once


class Engine:
    def __init__(self, options):
        self.options = options
        torch.manual_seed(options["seed"])
        net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))
        self.model = DDP(net)
        self.optimizer = ZeroRedundancyOptimizer(
            self.model.parameters(), optimizer_class=torch.optim.Adam, lr=options["lr"]
        )
        self.checkpoints = CheckpointManager(options["folder"] or tempfile.mkdtemp())

    def batch(self):
        x = torch.randn(self.options["batch"], 16)
        return x, x[:, :4].argmax(1)

    def train(self):
        for step in range(1, self.options["steps"] + 1):
            x, y = self.batch()
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            if step % self.options["log_every"] == 0:
                print_once(f"step {step} loss {loss.item():.3f}")
            if step % self.options["save_every"] == 0 and is_main_process():
                print_once("saved", self.checkpoints.save(step, self.model, self.optimizer))
