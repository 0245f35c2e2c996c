import itertools

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class RewardTrainer:

    def __init__(self, model, args, train_dataset):
        self.args = args
        if args.gradient_checkpointing:
            model.gradient_checkpointing_enable()
        self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.learning_rate)
        sampler = DistributedSampler(train_dataset)
        self.loader = DataLoader(train_dataset, args.per_device_train_batch_size, sampler=sampler)

    def compute_loss(self, model, inputs):
        rewards_chosen = model(inputs["input_ids_chosen"])
        rewards_rejected = model(inputs["input_ids_rejected"])
        loss = -nn.functional.logsigmoid(rewards_chosen - rewards_rejected).mean()
        if self.args.center_rewards_coefficient is not None:
            loss = loss + self.args.center_rewards_coefficient * (rewards_chosen + rewards_rejected).pow(2).mean()
        return loss

    def training_step(self, inputs):
        self.model.train()
        loss = self.compute_loss(self.model, inputs)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def train(self):
        batches = itertools.cycle(self.loader)
        for step in range(1, self.args.max_steps + 1):
            loss = self.training_step(next(batches))
            if step % self.args.logging_steps == 0 and dist.get_rank() == 0:
                print({"loss": round(loss.item(), 4), "step": step}, flush=True)
