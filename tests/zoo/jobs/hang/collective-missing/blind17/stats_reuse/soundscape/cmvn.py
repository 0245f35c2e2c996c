import json
import logging
from pathlib import Path

import torch
import torch.distributed as dist

log = logging.getLogger(__name__)
VERSION = 3


class CMVN:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return (x - self.mean) / self.std

    @staticmethod
    def path(scratch):
        return Path(scratch) / f"worker{dist.get_rank()}" / f"cmvn-v{VERSION}.json"

    @classmethod
    def for_dataset(cls, data, scratch, probe=64):
        target = cls.path(scratch)
        if target.exists():
            kept = json.loads(target.read_text())
            log.info("cmvn from %s", target)
            return cls(kept["mean"], kept["std"])
        sums = torch.zeros(3, dtype=torch.float64)
        for i in range(min(probe, len(data))):
            x = data[i][0].double()
            sums += torch.stack([x.sum(), x.square().sum(), torch.tensor(float(x.numel()), dtype=torch.float64)])
        dist.reduce(sums, dst=0)
        dist.broadcast(sums, src=0)
        mean = (sums[0] / sums[2]).item()
        std = (sums[1] / sums[2] - mean ** 2).sqrt().item()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps({"mean": mean, "std": std, "frames": int(sums[2])}))
        return cls(mean, std)
