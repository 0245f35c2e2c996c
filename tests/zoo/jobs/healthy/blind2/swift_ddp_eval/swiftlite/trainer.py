import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from swiftlite.reward import search

logger = logging.getLogger("swift")


class Trainer:

    def __init__(self, args):
        self.args = args
        torch.manual_seed(0)
        self.model = DDP(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.learning_rate)
        x = torch.randn(256, 16)
        dataset = TensorDataset(x, x.sum(1, keepdim=True))
        self.loader = DataLoader(dataset, 16, sampler=DistributedSampler(dataset))

    def train(self):
        for epoch in range(self.args.num_train_epochs):
            self.loader.sampler.set_epoch(epoch)
            for x, y in self.loader:
                loss = nn.functional.mse_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if dist.get_rank() == 0:
                logger.info("epoch %d loss %.4f, evaluating on this rank only", epoch, loss.item())
                self.evaluate(epoch)
            dist.barrier()

    def evaluate(self, epoch):
        result = search(target=501 + epoch, paths=self.args.eval_paths, seconds=self.args.eval_seconds)
        logger.info("epoch %d: best error %d", epoch, result["error"])
