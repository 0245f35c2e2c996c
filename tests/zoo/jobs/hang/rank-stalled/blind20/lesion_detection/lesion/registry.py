import numpy as np


class ScanRegistry:
    """Scans with their findings, in the order in which the hospitals sent them."""

    def __init__(self, cfg):
        rng = np.random.default_rng(cfg["seed"])
        self.records = []
        for site, (scans, prevalence) in enumerate(cfg["sites"]):
            positive = rng.random(scans) < prevalence
            self.records += [{"site": site, "id": f"{site}-{n}", "label": int(p)} for n, p in enumerate(positive)]

    def shard(self, rank, world):
        size = len(self.records) // world
        return self.records[rank * size:(rank + 1) * size]
