import json
import logging
from collections import Counter

import torch.distributed as dist

log = logging.getLogger(__name__)


class Vocabulary:
    def __init__(self, table=None):
        self.table = table or {}

    def __len__(self):
        return len(self.table) + 1

    def __getitem__(self, key):
        return self.table.get(key, 0)

    @classmethod
    def scan(cls, path, at_least):
        counts = Counter()
        with open(path) as f:
            for line in f:
                counts.update(json.loads(line)["items"])
        kept = [k for k, n in counts.most_common() if n >= at_least]
        return cls({k: i for i, k in enumerate(kept, 1)})

    @classmethod
    def shared(cls, path, at_least=5):
        box = [None]
        if dist.get_rank() == 0:
            try:
                box[0] = cls.scan(path, at_least).table
            except OSError as problem:
                log.warning("no vocabulary from %s: %s", path, problem)
        dist.broadcast_object_list(box, src=0)
        if box[0] is None:
            raise SystemExit("no vocabulary")
        return cls(box[0])
