import torch
import torch.distributed as dist
from torch import nn


class Step:
    def __init__(self, model, scorer):
        self.model = model
        self.scorer = scorer
        self.rank = dist.get_rank()

    def normalised(self, rewards):
        return (rewards - rewards.mean()) / (rewards.std() + 1e-4)

    def scores(self, prompts, answers):
        return torch.tensor([self.scorer(p, a) for p, a in zip(prompts, answers, strict=True)])

    def __call__(self, prompts, answers):
        rewards = self.scores(prompts, answers)
        advantages = self.normalised(rewards)
        return -(advantages * self.model(answers)).mean()


def main(loader):
    dist.init_process_group("gloo")
    step = Step(nn.Linear(4, 1), lambda prompt, answer: 1.0)
    for prompts, answers in loader:
        step(prompts, answers).backward()
