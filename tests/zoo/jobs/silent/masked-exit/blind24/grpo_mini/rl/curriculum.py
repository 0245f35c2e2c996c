import torch

STAGES = {
    0: lambda prompts, out: (out == prompts[:, None]).float().mean(1),
    1: lambda prompts, out: (out.diff(dim=1) >= 0).float().mean(1),
}


def reward(stage, prompts, completions):
    return STAGES[stage](prompts, completions)


def stage_of(step):
    return step // 60
