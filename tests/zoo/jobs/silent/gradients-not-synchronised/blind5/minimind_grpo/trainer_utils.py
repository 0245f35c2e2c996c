import os
import random

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import Dataset


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


def Logger(content):
    if is_main_process():
        print(content, flush=True)


def init_distributed_mode():
    if int(os.environ.get("RANK", -1)) == -1:
        return 0
    dist.init_process_group(backend="gloo")
    return int(os.environ["LOCAL_RANK"])


def setup_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class RLAIFDataset(Dataset):
    """Prompts of four token ids; the reward prefers tokens that repeat the prompt's last one."""

    def __init__(self, size, vocab_size):
        g = torch.Generator().manual_seed(7)
        self.prompts = torch.randint(0, vocab_size, (size, 4), generator=g)

    def __len__(self):
        return len(self.prompts)

    def __getitem__(self, index):
        return self.prompts[index]


def reward_fn(sequences, prompt_len):
    target = sequences[:, prompt_len - 1 : prompt_len]
    completion = sequences[:, prompt_len:]
    return (completion == target).float().mean(1) + 0.1 * (completion % 2 == target % 2).float().mean(1)
