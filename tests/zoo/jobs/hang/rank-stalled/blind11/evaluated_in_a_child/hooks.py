import json
import os
import subprocess
import sys
import tempfile

import torch

HOOKS = {}


def register(name):
    def wrap(cls):
        HOOKS[name] = cls
        return cls
    return wrap


@register("external_eval")
class ExternalEval:
    def __init__(self, every):
        self.every = every

    def after_epoch(self, rank, epoch, model):
        if rank != 0 or (epoch + 1) % self.every:
            return
        path = os.path.join(tempfile.mkdtemp(), "weights.pt")
        torch.save(model.module.state_dict(), path)
        child = subprocess.Popen([sys.executable, "score.py", path], stdout=subprocess.PIPE, text=True)
        if child.wait() != 0:
            print("scoring failed", flush=True)
            return
        last = child.stdout.read().splitlines()[-1]
        print(f"epoch {epoch} score {json.loads(last)['mean']:.4f}", flush=True)
