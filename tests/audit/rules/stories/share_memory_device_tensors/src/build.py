import os

import torch

from parallel_cache import PreloadedCacheDataset


def build(cfg):
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    return PreloadedCacheDataset(cfg["latent_cache_dir"], device, cfg["num_samples"])
