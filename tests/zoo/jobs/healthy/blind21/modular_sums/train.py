import gc
import itertools

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from config import Config
from slow_gradients import SlowGradients
from sums import Adder, modular_addition


class Experiment:
    def __init__(self, config):
        self.config = config
        torch.manual_seed(config.seed)
        train, self.test = modular_addition(config.modulus, config.train_part, config.seed)
        self.sampler = DistributedSampler(train, seed=config.seed, drop_last=True)
        self.loader = DataLoader(train, batch_size=config.batch_size, sampler=self.sampler, drop_last=True)
        self.model = DistributedDataParallel(Adder(config.modulus, config.width))
        self.slow = SlowGradients(self.model.parameters(), config.memory)
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), lr=config.lr * self.slow.gain * 10, weight_decay=config.weight_decay
        )

    def batches(self):
        for epoch in itertools.count():
            self.sampler.set_epoch(epoch)
            yield from self.loader

    @torch.no_grad()
    def test_accuracy(self):
        pairs, target = self.test
        return (self.model.module(pairs).argmax(1) == target).float().mean().item()

    def run(self):
        for step, (pairs, target) in enumerate(itertools.islice(self.batches(), self.config.steps), 1):
            loss = F.cross_entropy(self.model(pairs), target)
            self.slow.fade()
            loss.backward()
            self.optimizer.step()
            if step % self.config.log_every == 0 and dist.get_rank() == 0:
                print(f"step {step} loss {loss.item():.4f} test accuracy {self.test_accuracy():.3f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Experiment(Config()).run()
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()
