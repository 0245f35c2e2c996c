"""Calls each row of a library on two ranks, the second first: does it wait for the other?   RANK=1 FOLDER LIBRARY

Rank 1 calls, and says in the store when it is back; rank 0 calls once that was said, or once nothing was said for a
while. So every call comes to its end, whatever it does.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

WAITS_S = 1.0  # of rank 0 for a call that meets; one that does not is back long before
Rows = dict[str, Callable[[], object]]


def main() -> None:
    rank, folder = int(os.environ["RANK"]), Path(sys.argv[1])
    store = dist.FileStore(str(folder / "store"), 2)
    rows = _accelerate(folder) if sys.argv[2] == "accelerate" else _torch(store, rank, folder)
    waited = {}
    for name, call in rows.items():
        dist.barrier()
        if rank == 1:
            call()
            store.set(f"back {name}", "1")
        else:
            waited[name] = not _is_back(store, f"back {name}")
            call()
    dist.barrier()
    if rank == 0:
        (folder / "waited.json").write_text(json.dumps(waited))
    dist.destroy_process_group()
    sys.stdout.flush()
    # Threads of gloo may abort the exit of the interpreter, or keep it for ever, and so may the end of what `rows`
    # holds: a reducer's end joins a thread that waits for the interpreter's lock. No matter of these calls.
    os._exit(0)


def _is_back(store: dist.Store, key: str) -> bool:
    try:
        store.wait([key], timedelta(seconds=WAITS_S))
    except RuntimeError as error:  # what a FileStore raises has no class of its own
        if "timeout" not in str(error).lower():
            raise
        return False
    return True


def _torch(store: dist.Store, rank: int, folder: Path) -> Rows:
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    plain, normed = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    plain_ddp, ddp = DistributedDataParallel(plain), DistributedDataParallel(normed)
    x = torch.randn(4, 4)

    def forward(model: nn.Module) -> None:
        with torch.no_grad():
            model(x)

    saved = {"w": torch.zeros_like(plain.weight)}
    handed_out = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)

    return {
        "barrier": dist.barrier,
        "DDP forward": lambda: ddp(x).sum().backward(),
        "DDP forward without gradients, the first": lambda: forward(ddp),
        "DDP forward without gradients, the next": lambda: forward(ddp),
        "DDP forward without gradients or buffers": lambda: forward(plain_ddp),
        "get_model_state_dict of a model that is not sharded": lambda: get_model_state_dict(plain),
        "init_device_mesh of one dimension": lambda: init_device_mesh("cpu", (2,)),
        "set_model_state_dict of a model that is not sharded": lambda: set_model_state_dict(plain, plain.state_dict()),
        "set_model_state_dict with broadcast_from_rank0": lambda: set_model_state_dict(
            plain, plain.state_dict(), options=handed_out
        ),
        "checkpoint.save": lambda: checkpoint.save({"w": plain.weight.detach()}, checkpoint_id=str(folder / "dcp")),
        "checkpoint.load": lambda: checkpoint.load(saved, checkpoint_id=str(folder / "dcp")),
    }


def _accelerate(folder: Path) -> Rows:
    from accelerate import Accelerator
    from accelerate.utils import broadcast, gather_object

    accelerator = Accelerator(cpu=True)
    model = nn.Linear(4, 4)
    prepared, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    x = torch.ones(2)

    def first() -> None:
        with accelerator.main_process_first():
            pass

    return {
        "wait_for_everyone": accelerator.wait_for_everyone,
        "gather": lambda: accelerator.gather(x),
        "gather_for_metrics": lambda: accelerator.gather_for_metrics(x),
        "reduce": lambda: accelerator.reduce(x),
        "pad_across_processes": lambda: accelerator.pad_across_processes(x),
        "save_state of a model that is not sharded": lambda: accelerator.save_state(str(folder / "state")),
        "main_process_first": first,
        "utils.broadcast": lambda: broadcast(x),
        "utils.gather_object": lambda: gather_object([1]),
        "get_state_dict of a model that is not sharded": lambda: accelerator.get_state_dict(prepared),
        "optimizer.zero_grad": optimizer.zero_grad,
        "save": lambda: accelerator.save({"a": 1}, str(folder / "model.pt")),
    }


if __name__ == "__main__":
    main()
