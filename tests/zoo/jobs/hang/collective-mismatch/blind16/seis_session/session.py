import json
import logging
import time

import torch
import torch.distributed as dist

log = logging.getLogger("picker.session")


class RunSession:
    """Owns the process group and the run ledger."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.ledger = {"picks": 0, "steps": 0}
        self.t0 = None

    def __enter__(self):
        dist.init_process_group(self.cfg.get("backend", "gloo"))
        self.rank = dist.get_rank()
        self.world = dist.get_world_size()
        self.t0 = time.time()
        torch.manual_seed(self.cfg["seed"])
        return self

    def count(self, n):
        self.ledger["picks"] += int(n)
        self.ledger["steps"] += 1

    def close_ledger(self):
        rows = [None] * self.world
        dist.all_gather_object(rows, self.ledger)
        if self.rank == 0:
            total = sum(r["picks"] for r in rows)
            with open("ledger.json", "w") as fh:
                json.dump({"picks": total, "rows": rows, "secs": time.time() - self.t0}, fh)
            log.info("ledger closed, %d picks", total)

    def __exit__(self, exc_type, exc, tb):
        self.close_ledger()
        dist.destroy_process_group()
        return False
