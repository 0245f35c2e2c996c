from pathlib import Path

import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

from lm.ranks import global_rank, main_only, say

FULL = StateDictOptions(full_state_dict=True, cpu_offload=True)


@main_only  # cause
def save_full(model, directory: Path, step: int):
    state = get_model_state_dict(model, options=FULL)  # cause
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / f"step{step:07d}.pt"
    torch.save({"model": state, "step": step}, target.with_suffix(".tmp"))
    target.with_suffix(".tmp").rename(target)
    return target


def prune(directory: Path, keep: int):
    if global_rank() != 0:
        return
    for old in sorted(directory.glob("step*.pt"))[:-keep]:
        say(f"removing {old.name}")
        old.unlink()
