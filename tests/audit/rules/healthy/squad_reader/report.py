import json
import os
import time

import torch
import torch.distributed as dist


class Report:
    def __init__(self, folder):
        self.folder, self.begun = folder, time.time()
        self.rank = dist.get_rank()

    def line(self, **values):
        if self.rank != 0:
            return
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, "log.jsonl"), "a") as f:
            f.write(json.dumps({"t": round(time.time() - self.begun, 1), **values}) + "\n")

    def weights(self, model, name):
        if self.rank == 0:
            try:
                torch.save(model.module.state_dict(), os.path.join(self.folder, name))
            except OSError as problem:
                print("weights were not written:", problem)


def summed(*values):
    t = torch.tensor(values, dtype=torch.float64, device="cuda")
    dist.all_reduce(t)
    return t.tolist()
