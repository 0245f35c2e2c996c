import os
from pathlib import Path

import torch.distributed as dist


def prepare(base, name):
    """A folder that is there is not written to again."""
    run = os.path.join(base, name)
    os.makedirs(run, exist_ok=False)
    os.makedirs(os.path.join(run, "checkpoints"), exist_ok=True)
    if dist.get_rank() == 0:
        open(os.path.join(run, "config.yaml"), "w").close()
    return run


class Experiment:
    def __init__(self, root, version):
        self.folder = Path(root) / f"version_{version}"
        self.folder.mkdir(parents=True, exist_ok=False)
