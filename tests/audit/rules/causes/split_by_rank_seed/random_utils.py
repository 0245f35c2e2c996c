import random

import numpy as np
import torch


def set_seed(seed, accelerator=None):
    """Seeds everything; each process differently, so that augmentations are independent."""
    if accelerator is not None:
        seed += accelerator.process_index * 12345
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
