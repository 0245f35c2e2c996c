"""Runs the planted models without the doctor: each must fail with what it needs, and pass without any part of it.

    python tests/benchmarks/planted_truth.py [NAME...]

Ranks are forked from this process, which has torch; a few lines of DDP, autocast and accumulation each. A model whose
truth does not hold is no measure of anything.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from planted.truth import PLANTED, Planted, module_of
from torch import Tensor, distributed, nn
from torch.utils.data import DataLoader

DEADLINE_S = 60.0
SIMPLEST = {"world": 1, "wrapper": "none", "amp": "", "accumulate": 1, "checkpointing": False, "threads": 1}
SIMPLEST["compile"] = False


def step(name: str, settings: Mapping[str, Any], which: str) -> None:
    """Two steps of one rank, as a training script would write them."""
    torch.manual_seed(0)
    torch.set_num_threads(settings["threads"])
    case = importlib.import_module(module_of(name))
    module = getattr(case, which)()
    model = wrapped(module, settings)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = following(case.batch())
    kind = getattr(torch, settings["amp"], None)
    for _ in range(2):
        for turn in range(settings["accumulate"]):
            last = turn == settings["accumulate"] - 1
            held = contextlib.nullcontext() if last or settings["wrapper"] != "ddp" else model.no_sync()
            with held:
                with torch.autocast("cpu", kind) if kind else contextlib.nullcontext():
                    given = next(batches)
                    out = model(**given) if isinstance(given, dict) else model(*given)
                loss = total(out)
                loss.backward()
        bad = [key for key, one in module.named_parameters() if one.grad is not None and not finite(one.grad)]
        if not finite(loss) or bad:
            raise ArithmeticError("not a number")
        optimizer.step()
    if distributed.is_initialized() and settings["wrapper"] == "ddp":
        agree(module)


def wrapped(model: nn.Module, settings: Mapping[str, Any]) -> nn.Module:
    if settings["checkpointing"]:
        from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing

        apply_activation_checkpointing(
            model, check_fn=lambda one: one is not model and callable_parent(one) and any(True for _ in one.children())
        )
    if settings["wrapper"] == "fsdp2":
        from torch.distributed.fsdp import fully_shard

        fully_shard(model)
    if settings["compile"]:
        model = torch.compile(model, backend="eager")
    return nn.parallel.DistributedDataParallel(model) if settings["wrapper"] == "ddp" else model


def callable_parent(module: nn.Module) -> bool:
    return not isinstance(module, (nn.ModuleList, nn.ModuleDict))


def following(given: Any) -> Iterator[Any]:
    if isinstance(given, (Tensor, tuple, dict)):
        given = repeat(given)
    for one in given if not isinstance(given, DataLoader) else iter(given):
        yield one if isinstance(one, (tuple, dict)) else (one,)


def repeat(value: Any) -> Iterator[Any]:
    while True:
        yield value


def total(out: Any) -> Tensor:
    parts = out.values() if isinstance(out, dict) else out if isinstance(out, tuple) else (out,)
    return sum(one.float().square().mean() for one in parts)


def finite(value: Tensor) -> bool:
    return bool(torch.isfinite(value.to_local() if hasattr(value, "to_local") else value).all())


def agree(module: nn.Module) -> None:
    for name, one in module.named_parameters():
        least, most = one.detach().clone(), one.detach().clone()
        distributed.all_reduce(least, distributed.ReduceOp.MIN)
        distributed.all_reduce(most, distributed.ReduceOp.MAX)
        if not torch.equal(least, most):
            raise AssertionError(f"ranks disagree about {name}")


def rank_of(name: str, settings: Mapping[str, Any], which: str, rank: int, port: int, said: int) -> None:
    os.dup2(said, 1)
    os.dup2(said, 2)
    try:
        if settings["world"] > 1 or settings["wrapper"] != "none":
            where = f"tcp://127.0.0.1:{port}"
            distributed.init_process_group("gloo", init_method=where, rank=rank, world_size=settings["world"])
        step(name, settings, which)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}".splitlines()[0][:120], flush=True)
        os._exit(1)
    os._exit(0)


def run(name: str, settings: Mapping[str, Any], which: str = "failing") -> str:
    """Returns how it ended: "passed", a signal's name, "hang", or the first exception's first line."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / str(rank) for rank in range(settings["world"])]
        ranks: dict[int, int] = {}
        for rank, path in enumerate(paths):
            said = os.open(path, os.O_CREAT | os.O_RDWR)
            if not (pid := os.fork()):
                rank_of(name, settings, which, rank, port, said)
            os.close(said)
            ranks[pid] = rank
        return ended(ranks, paths)


def ended(ranks: dict[int, int], paths: list[Path]) -> str:
    """Waits for all ranks; the first that ends badly says how it was, and the others are ended."""
    until, first = time.monotonic() + DEADLINE_S, ""
    while ranks:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            rank = ranks.pop(pid)
            if status and not first:
                said = paths[rank].read_text(errors="replace").strip().splitlines()
                killed = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
                first = killed or (said[-1] if said else f"exit code {os.WEXITSTATUS(status)}")
                until = min(until, time.monotonic() + 1.0)
        elif time.monotonic() > until:
            first = first or "hang"
            for other in ranks:
                os.kill(other, signal.SIGKILL)
            until += 5.0
        else:
            time.sleep(0.01)
    return first or "passed"


def holds(planted: Planted) -> Iterator[tuple[str, str, bool]]:
    """Yields what was run, what came of it, and whether it is as it must be."""
    settings = {**SIMPLEST, **(planted.needed or {})}
    if planted.needed is None:
        settings |= {"world": 2, "wrapper": "ddp"}
    if planted.name == "moe_accumulate_abort":
        settings["accumulate"] = 2
    found = run(planted.name, settings)
    yield "with what it needs", found, (found == "passed") == (planted.kind is None)
    for key in planted.needed or {}:
        found = run(planted.name, {**settings, key: SIMPLEST[key]})
        yield f"without {key}", found, found == "passed"
    if hasattr(importlib.import_module(module_of(planted.name)), "healthy"):
        found = run(planted.name, {**settings, "world": 2, "wrapper": settings["wrapper"]}, "healthy")
        yield "its healthy twin", found, found == "passed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    wrong = 0
    for planted in PLANTED:
        if planted.config or (names and planted.name not in names):
            continue
        for what, found, right in holds(planted):
            wrong += not right
            print(f"{'ok  ' if right else 'WRONG'} {planted.name:26} {what:24} {found}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
