import random

import torch


def seed_process(base, rank):
    random.seed(base + rank)
    torch.manual_seed(base + rank)
    return base + rank


def stage_seed(base, stage):
    return base * 31 + stage * 1009
