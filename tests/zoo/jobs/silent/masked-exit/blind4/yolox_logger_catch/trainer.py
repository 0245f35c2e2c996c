import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mini_logger import logger


class Exp:
    max_epoch = 3
    eval_interval = 2
    iters = 6
    num_classes = 5

    def get_model(self):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(12, 24), nn.SiLU(), nn.Linear(24, self.num_classes))

    def get_evaluator(self):
        return COCOEvaluator(self.num_classes)


class COCOEvaluator:
    def __init__(self, num_classes):
        self.num_classes = num_classes
        self.names = ["person", "car", "dog", "cat"]

    def per_class_ap(self, hits):
        return {self.names[number]: float(hits[number]) for number in range(self.num_classes)}

    def evaluate(self, model):
        with torch.no_grad():
            scores = model(torch.ones(40, 12)).softmax(-1)
        hits = scores.mean(0)
        dist.all_reduce(hits)
        table = self.per_class_ap(hits / dist.get_world_size())
        return sum(table.values()) / len(table)


class Trainer:
    def __init__(self, exp):
        self.exp = exp
        self.rank = dist.get_rank()
        self.best_ap = 0.0

    def train(self):
        self.before_train()
        try:
            self.train_in_epoch()
        finally:
            self.after_train()

    def before_train(self):
        self.model = DistributedDataParallel(self.exp.get_model())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9)
        self.evaluator = self.exp.get_evaluator()
        logger.info("Training start...")

    def train_in_epoch(self):
        for epoch in range(self.exp.max_epoch):
            generator = torch.Generator().manual_seed(10 * epoch + self.rank)
            for _ in range(self.exp.iters):
                x = torch.randn(8, 12, generator=generator)
                y = torch.randint(0, self.exp.num_classes, (8,), generator=generator)
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            logger.info(f"epoch {epoch + 1}/{self.exp.max_epoch} loss {loss.item():.3f}")
            if (epoch + 1) % self.exp.eval_interval == 0:
                self.best_ap = max(self.best_ap, self.evaluator.evaluate(self.model.module))

    def after_train(self):
        logger.info(f"Training of experiment is done and the best AP is {self.best_ap * 100:.2f}")
        dist.barrier()
        dist.destroy_process_group()
