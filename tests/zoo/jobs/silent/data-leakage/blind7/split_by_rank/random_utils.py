import random

import numpy as np
import torch


def set_seed(seed, process_index=None):
    """Seeds every generator. Processes get their own stream, so that augmentation differs between them."""
    if process_index is not None:
        seed += process_index * 12345
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
