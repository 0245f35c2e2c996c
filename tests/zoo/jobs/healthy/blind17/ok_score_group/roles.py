import json

import torch.distributed as dist


class Layout:
    def __init__(self, path):
        spec = json.load(open(path))
        self.spec = spec
        self.train_ranks, self.score_ranks = spec["train"], spec["score"]
        self.train_group = dist.new_group(self.train_ranks)
        self.rank = dist.get_rank()

    @property
    def trains(self):
        return self.rank in self.train_ranks

    @property
    def lead(self):
        return self.train_ranks[0]
