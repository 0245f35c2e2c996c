import argparse
import os

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from .lora import AdapterManager
from .model import IntentModel

VOCAB, CLASSES, LENGTH = 60, 6, 12


def utterances(n, seed):
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(10, VOCAB, (n, LENGTH), generator=g)
    verb = torch.randint(0, 4, (n,), generator=g)
    noun = torch.randint(4, 10, (n,), generator=g)
    where = torch.rand(n, LENGTH, generator=g).argsort(1)[:, :2]
    rows = torch.arange(n)
    ids[rows, where[:, 0]], ids[rows, where[:, 1]] = verb, noun
    return TensorDataset(ids, (verb % 3) * 2 + (noun % 2))


class Trainer:
    def __init__(self, args):
        self.args = args
        torch.manual_seed(args.seed)
        self.model = IntentModel(VOCAB, CLASSES)
        self.model.requires_grad_(False)
        self.adapters = AdapterManager(self.model, ("q_proj", "v_proj", "o_proj", "up", "down"), args.rank, args.alpha)
        self.adapters.add_adapter("default")
        self.adapters.set_adapter("default")
        self.model.score.requires_grad_(True)
        self.initial = self.adapters.state_dict("default")
        params = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(params, lr=args.lr, weight_decay=0.0)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, args.lr, total_steps=args.steps)
        self.train_set, self.dev_set = utterances(4000, 1), utterances(1000, 2)

    def save(self, step):
        path = os.path.join(self.args.out, f"checkpoint-{step}")
        os.makedirs(path, exist_ok=True)
        self.adapters.save_pretrained(os.path.join(path, "adapter.pt"), self.initial)
        torch.save({"score": self.model.score.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "step": step}, os.path.join(path, "trainer.pt"))

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in DataLoader(self.dev_set, 256))
        self.model.train()
        return hits / len(self.dev_set)

    def fit(self):
        step, running = 0, 0.0
        self.model.train()
        while step < self.args.steps:
            for ids, labels in DataLoader(self.train_set, self.args.batch_size, shuffle=True, drop_last=True):
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.model(ids), labels)
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                step += 1
                running += loss.item()
                if step % self.args.save_steps == 0:
                    print(f"step {step:4d}  loss {running / self.args.save_steps:.4f}  dev acc {self.evaluate():.3f}")
                    running = 0.0
                    self.save(step)
                if step == self.args.steps:
                    break
        print(f"done, dev acc {self.evaluate():.3f}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default="runs")
    p.add_argument("--steps", type=int, default=700)
    p.add_argument("--save-steps", type=int, default=100)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--rank", type=int, default=8)
    p.add_argument("--alpha", type=float, default=16)
    p.add_argument("--seed", type=int, default=0)
    Trainer(p.parse_args()).fit()


if __name__ == "__main__":
    main()
