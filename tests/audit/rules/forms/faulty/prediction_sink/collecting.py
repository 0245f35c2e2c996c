import json
from pathlib import Path

import torch.distributed as dist


class PredictionSink:
    def __init__(self, out, group=None):
        self.out = Path(out)
        self.group = group
        self.rows = []

    def extend(self, keys, scores):
        self.rows.extend({"key": k, "score": float(s)} for k, s in zip(keys, scores))

    def flush(self):
        parts = [None] * dist.get_world_size(self.group)  # cause
        dist.gather_object(self.rows, parts, dst=0, group=self.group)  # cause
        self.rows = []
        if dist.get_rank() != 0:
            return 0
        merged = {}
        for part in parts:
            for row in part:
                merged.setdefault(row["key"], row)
        with self.out.open("w") as fh:
            for key in sorted(merged):
                fh.write(json.dumps(merged[key]) + "\n")
        return len(merged)
