import torch.distributed as dist
from torch.distributed.nn.functional import all_gather


def picked(rewards, prompts):
    rank = dist.get_rank()
    better = rewards + len(prompts)
    return better[rank * len(prompts) : (rank + 1) * len(prompts)]


def step(scorer, prompts):
    return picked(all_gather(scorer(prompts)), prompts)
