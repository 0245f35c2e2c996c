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
        mine = torch.tensor([self.scorer(p, a) for p, a in zip(prompts, answers, strict=True)])
        rewards = mine.new_empty(dist.get_world_size() * len(mine))
        dist.all_gather_into_tensor(rewards, mine)
        return rewards

    def __call__(self, prompts, answers):
        rewards = self.scores(prompts, answers)
        own = slice(self.rank * len(prompts), (self.rank + 1) * len(prompts))
        advantages = self.normalised(rewards)[own]
        return -(advantages * self.model(answers)).mean()


def main(loader):
    dist.init_process_group("gloo")
    step = Step(nn.Linear(4, 1), lambda prompt, answer: 1.0)
    for prompts, answers in loader:
        step(prompts, answers).backward()
