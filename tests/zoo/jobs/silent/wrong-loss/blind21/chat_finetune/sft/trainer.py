import contextlib
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from sft.conversations import IGNORE, collate
from sft.losses import causal_lm_loss


@dataclass
class TrainingArguments:
    per_device_batch_size: int = 2
    gradient_accumulation_steps: int = 8
    epochs: int = 2
    learning_rate: float = 2e-3
    max_grad_norm: float = 1.0
    warmup: int = 20
    seed: int = 11


class Trainer:
    def __init__(self, model, train_set, eval_set, args):
        self.args = args
        self.rank = dist.get_rank()
        self.model = DistributedDataParallel(model)
        self.sampler = DistributedSampler(train_set, seed=args.seed, drop_last=True)
        self.loader = DataLoader(
            train_set, batch_size=args.per_device_batch_size, sampler=self.sampler, collate_fn=collate, drop_last=True
        )
        self.eval_loader = DataLoader(eval_set, batch_size=32, collate_fn=collate)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.learning_rate, betas=(0.9, 0.98))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda s: min(1.0, (s + 1) / args.warmup))

    def windows(self):
        """Groups the micro-batches that make one update."""
        window = []
        for batch in self.loader:
            window.append(batch)
            if len(window) == self.args.gradient_accumulation_steps:
                yield window
                window = []

    def training_step(self, window):
        total = 0.0
        for i, (tokens, labels) in enumerate(window):
            last = i == len(window) - 1
            with contextlib.nullcontext() if last else self.model.no_sync():
                loss = causal_lm_loss(self.model(tokens), labels) / len(window)
                loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        nll, count = 0.0, 0
        for tokens, labels in self.eval_loader:
            n = int((labels[:, 1:] != IGNORE).sum())
            nll += causal_lm_loss(self.model.module(tokens), labels).item() * n
            count += n
        self.model.train()
        return nll / count

    def train(self):
        step = 0
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            for window in self.windows():
                loss = self.training_step(window)
                step += 1
                if step % 25 == 0 and self.rank == 0:
                    print(f"epoch {epoch} step {step} loss {loss:.4f}", flush=True)
            if self.rank == 0:
                print(f"epoch {epoch} eval loss {self.evaluate():.4f}", flush=True)
            dist.barrier()
