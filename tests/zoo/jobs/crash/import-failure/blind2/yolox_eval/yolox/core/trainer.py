import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from yolox.evaluator import COCOEvaluator


class Trainer:

    def __init__(self, exp):
        self.exp = exp
        self.rank = dist.get_rank()
        self.model = DDP(exp.get_model())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=exp.basic_lr, momentum=0.9)
        self.train_loader = exp.get_data_loader(train=True)
        self.evaluator = COCOEvaluator(exp.get_data_loader(train=False))
        self.best_ap = 0.0

    def train(self):
        for self.epoch in range(self.exp.max_epoch):
            self.train_in_iter()
            self.after_epoch()

    def train_in_iter(self):
        self.model.train()
        self.train_loader.sampler.set_epoch(self.epoch)
        for images, boxes, _ in self.train_loader:
            loss = self.exp.loss(self.model(images), boxes)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        if self.rank == 0:
            print(f"epoch: {self.epoch + 1}/{self.exp.max_epoch}, total_loss: {loss.item():.3f}", flush=True)

    def after_epoch(self):
        if (self.epoch + 1) % self.exp.eval_interval == 0:
            self.evaluate_and_save_model()

    def evaluate_and_save_model(self):
        ap50_95, ap50 = self.evaluator.evaluate(self.model.module)
        self.best_ap = max(self.best_ap, ap50_95)
        if self.rank == 0:
            print(f"AP {ap50_95:.3f} AP50 {ap50:.3f} best {self.best_ap:.3f}", flush=True)
