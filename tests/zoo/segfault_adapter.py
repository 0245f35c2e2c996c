"""A job adapter over `segfault_operator`: CONFIG is JSON, {"fault": "forward", "rank": 1, ...}; {} is healthy.

Faults: constructor, forward, backward (native crashes), exception, refused, stuck, hidden (another width on
the faulty rank), killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

RANK = int(os.environ.get("RANK", "0"))


class Progress:
    def __init__(self, path: str):
        self.path = Path(path.replace("{rank}", str(RANK)))
        self.answer = {"parameters": 0, "bytes": 0, "phases": [], "modules": []}

    def run(self, phase, work):
        agent = sys.modules.get("_ups_doctor_agent")
        if agent is not None:
            agent.mark(phase)
        began = time.perf_counter()
        result = work()
        self.answer["phases"].append({"phase": phase, "seconds": time.perf_counter() - began})
        self.write()
        return result

    def write(self):
        self.path.with_suffix(".new").write_text(json.dumps(self.answer))
        self.path.with_suffix(".new").replace(self.path)

    def count(self, model):
        for path, part in model.named_modules():
            size = sum(value.numel() * value.element_size() for value in part.parameters())
            shapes = " ".join(f"{name}{tuple(value.shape)}" for name, value in part.named_parameters(recurse=False))
            row = {"path": path, "class": type(part).__qualname__, "bytes": size, "seconds": 0.0, "shapes": shapes}
            self.answer["modules"].append(row)
        self.answer["parameters"] = sum(value.numel() for value in model.parameters())
        self.answer["bytes"] = self.answer["modules"][0]["bytes"]
        self.write()


def main() -> int:
    verb, config, _, result = sys.argv[1:5]
    asked = json.loads(Path(config).read_text())
    fault = asked.get("fault") if asked.get("rank", 1) == RANK else None
    if verb != "model" or fault == "refused":
        print(f"unknown key 'dims' in {config}", file=sys.stderr)
        return 2
    step(Progress(result), fault)
    return 0


def step(progress: Progress, fault: str | None) -> None:
    import torch
    import torch.distributed as dist
    from segfault_operator import build
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    progress.run("process-group", lambda: dist.init_process_group("gloo"))
    crash_in = fault if fault in ("constructor", "forward", "backward") else None
    model = progress.run("construct", lambda: build(crash_in, dim=16 if fault == "hidden" else 8))
    progress.count(model)
    if fault == "stuck":
        progress.run("prepare", wait_for_licence)
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    wrapped = progress.run("wrap", lambda: DistributedDataParallel(model))
    width = 7 if fault == "exception" else model.head.in_features
    loss = progress.run("forward", lambda: wrapped(torch.ones(2, 4, width)).sum())
    progress.run("backward", loss.backward)
    dist.destroy_process_group()


def wait_for_licence() -> None:
    threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
