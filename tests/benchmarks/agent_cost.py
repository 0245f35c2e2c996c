"""What it costs to be watched by the agent. One command, JSON on stdout:

    python tests/benchmarks/agent_cost.py [--pairs 40]

Bare and watched are measured in turn, and ratios are medians over pairs: single medians of a machine that
throttles are not comparable. The steps are measured inside one watched process, by putting torch's own functions
back for every other block (`Agent`); those of DDP in two ranks on gloo, which switch together.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from diagnostics.record.record import agent_environment, make_record_folder


def pairs_of(bare: Callable[[], float], watched: Callable[[], float], pairs: int) -> tuple[list[float], list[float]]:
    """Returns seconds of both, measured in turn, the order swapped each time."""
    seconds: dict[Callable[[], float], list[float]] = {bare: [], watched: []}
    for index in range(pairs):
        for side in (bare, watched) if index % 2 else (watched, bare):
            seconds[side].append(side())
    return seconds[bare], seconds[watched]


def compared(bare: list[float], watched: list[float], scale: float, unit: str) -> dict[str, float]:
    """Returns medians in `unit` and the median of the paired ratios."""
    return {
        f"bare_{unit}": round(statistics.median(bare) * scale, 3),
        f"watched_{unit}": round(statistics.median(watched) * scale, 3),
        f"added_{unit}": round(statistics.median(b - a for a, b in zip(bare, watched, strict=True)) * scale, 3),
        "ratio": round(statistics.median(b / a for a, b in zip(bare, watched, strict=True)), 4),
    }


def start_cost(pairs: int, *, bytecode: bool) -> dict[str, float]:
    """Seconds of `python -c pass`; `bytecode` False: as where __pycache__ cannot be written and is not shipped."""
    with tempfile.TemporaryDirectory() as folder:
        keep = {"PYTHONPATH", "UPS_DOCTOR_DIR", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
        base = {key: value for key, value in os.environ.items() if key not in keep}
        if not bytecode:
            base |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": f"{folder}/none"}
        agent = agent_environment(make_record_folder(Path(folder) / "record"), pythonpath="")

        def start(env: dict[str, str]) -> float:
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], env=env, check=True)
            return time.perf_counter() - began

        start({**base, **agent})  # writes the bytecode
        return compared(*pairs_of(lambda: start(base), lambda: start({**base, **agent}), pairs), 1e3, "ms")


def in_watched_ranks(work: str, ranks: int, pairs: int) -> dict[str, object]:
    """Runs `work` (inside, ddp) in processes that are watched from their start; returns what rank 0 says."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **agent_environment(make_record_folder(Path(folder) / "record")), "OMP_NUM_THREADS": "1"}
        argv = [sys.executable, __file__, "--inside", work, "--pairs", str(pairs), "--store", f"{folder}/store"]
        children = [
            subprocess.Popen(argv, env={**env, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
            for rank in range(ranks)
        ]
        said = [child.communicate()[0] for child in children]
    answer: dict[str, object] = json.loads(said[0].splitlines()[-1])
    return answer


class Agent:
    """The agent's wrappers of this process, taken away and put back."""

    def __init__(self) -> None:
        import torch
        from torch.optim import optimizer
        from torch.utils.data import dataloader

        self._places = [(torch.nn.Module, "__call__"), (torch.autograd, "_engine_run_backward")]
        self._places += [(dataloader.DataLoader, "__iter__")]
        self._places += [(dataloader._BaseDataLoaderIter, name) for name in ("__next__", "_next_index")]
        distributed = sys.modules["torch.distributed.distributed_c10d"]
        self._places += [(module, "all_reduce") for module in (torch.distributed, distributed)]
        self._watched = [getattr(owner, name) for owner, name in self._places]
        self._hooks = [
            (hooks, dict(hooks))
            for hooks in (optimizer._global_optimizer_pre_hooks, optimizer._global_optimizer_post_hooks)
        ]

    def switch(self, watched: bool) -> None:
        """Puts the wrappers, or what they wrap, in their places."""
        for (owner, name), wrapper in zip(self._places, self._watched, strict=True):
            setattr(owner, name, wrapper if watched else inspect.unwrap(wrapper))
        for hooks, ours in self._hooks:
            hooks.clear()
            hooks.update(ours if watched else {})


def inside(pairs: int) -> dict[str, object]:
    """Cost of one module call, one construction and of training steps, in this watched process."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    agent = Agent()

    def timed(work: Callable[[], object], watched: bool, repeats: int) -> Callable[[], float]:
        def run() -> float:
            agent.switch(watched)
            began = time.perf_counter()
            for _ in range(repeats):
                work()
            return (time.perf_counter() - began) / repeats

        return run

    def both(
        bare: Callable[[], object], watched: Callable[[], object], repeats: int, scale: float, unit: str
    ) -> object:
        for _ in range(3):
            timed(bare, False, 1)()
            timed(watched, True, 1)()
        return compared(*pairs_of(timed(bare, False, repeats), timed(watched, True, repeats), pairs), scale, unit)

    empty, x = nn.Identity(), torch.ones(1)
    answer: dict[str, object] = {"module_call": both(lambda: empty(x), lambda: empty(x), 5000, 1e9, "ns")}
    for name, dim, tokens in (("tiny_step", 32, 16), ("step", 128, 128)):
        eager = step_of(dim, tokens, compiled=False)
        repeats = 20 if name == "tiny_step" else 3
        answer[f"{name}_eager"] = both(eager, eager, repeats, 1e3, "ms")
        if shutil.which("c++"):
            agent.switch(False)
            bare = step_of(dim, tokens, compiled=True)
            bare()
            agent.switch(True)
            watched = step_of(dim, tokens, compiled=True)
            answer[f"{name}_compiled"] = both(bare, watched, repeats, 1e3, "ms")
        # Each of these steps is printed: fewer than there are slots for.
        agent.switch(True)
        watched = step_of(dim, tokens, compiled=False, fed=True)
        agent.switch(False)
        answer[f"{name}_fed"] = both(step_of(dim, tokens, compiled=False, fed=True), watched, repeats, 1e3, "ms")
    # A new optimizer is looked at before its 1st, 2nd, 3rd, 10th, 20th, 50th and 100th step.
    for name, dim, tokens in (("first_100_tiny_steps", 32, 16), ("first_100_steps", 128, 128)):

        def first_steps(dim: int = dim, tokens: int = tokens) -> None:
            step = step_of(dim, tokens, compiled=False)
            for _ in range(100):
                step()

        answer[name] = both(first_steps, first_steps, 1, 1e3, "ms")
    return answer


def ddp(pairs: int, store: str) -> dict[str, object]:
    """Cost of one all_reduce, and of steps of DDP that also sum their loss over the ranks; two ranks on gloo."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=int(os.environ["RANK"]), world_size=2)
    agent = Agent()
    answer: dict[str, object] = {}
    works: dict[str, tuple[Callable[[], object], int, float, str]] = {"all_reduce": (sum_of_one, 500, 1e6, "us")}
    for name, dim, tokens, repeats in (("tiny_ddp_step", 32, 16, 20), ("ddp_step", 128, 128, 3)):
        works[name] = (step_of(dim, tokens, compiled=False, wrapped=True), repeats, 1e3, "ms")
    for name, (work, repeats, scale, unit) in works.items():

        def timed(watched: bool, work: Callable[[], object] = work, repeats: int = repeats) -> float:
            agent.switch(watched)
            dist.barrier()
            began = time.perf_counter()
            for _ in range(repeats):
                work()
            return (time.perf_counter() - began) / repeats

        timed(True)
        timed(False)
        answer[name] = compared(*pairs_of(lambda: timed(False), lambda: timed(True), pairs), scale, unit)
    dist.destroy_process_group()
    return answer


def sum_of_one() -> None:
    """One collective of one number."""
    import torch
    import torch.distributed as dist

    dist.all_reduce(torch.ones(1))


def step_of(dim: int, tokens: int, *, compiled: bool, wrapped: bool = False, fed: bool = False) -> Callable[[], object]:
    """Returns one training step of a small transformer, `fed` by a loader."""
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, RandomSampler, TensorDataset

    layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
    model: nn.Module = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    if wrapped:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters())
    called = torch.compile(model) if compiled else model
    x = torch.randn(4, tokens, dim)
    data = TensorDataset(torch.randn(64, tokens, dim))
    sampler = RandomSampler(data, replacement=True, num_samples=10**6, generator=torch.Generator())
    batches = iter(DataLoader(data, 4, sampler=sampler)) if fed else None

    def step() -> None:
        loss = called(next(batches)[0] if batches is not None else x).pow(2).mean()
        loss.backward()
        if wrapped:
            torch.distributed.all_reduce(loss.detach())
        optimizer.step()
        optimizer.zero_grad()

    return step


def main() -> None:
    """Prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--inside", choices=("inside", "ddp"), help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(inside(options.pairs) if options.inside == "inside" else ddp(options.pairs, options.store)))
        return
    start = {
        "python_start": start_cost(options.pairs, bytecode=True),
        "python_start_without_bytecode": start_cost(options.pairs, bytecode=False),
    }
    steps = in_watched_ranks("inside", 1, options.pairs), in_watched_ranks("ddp", 2, options.pairs)
    memory = {"memory_with_torch": memory_cost()}
    print(json.dumps({**start, **memory, **steps[0], **steps[1]}, indent=2))


def memory_cost() -> dict[str, float]:
    """Returns the peak memory of a process that imports torch and calls a module, and what being watched adds."""
    code = (
        "import resource, torch; torch.nn.Linear(4, 4)(torch.ones(2, 4)).sum().backward(); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    with tempfile.TemporaryDirectory() as folder:
        watched = {**os.environ, **agent_environment(make_record_folder(Path(folder)), flight=True)}
        mib = [
            int(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout) / 1024
            for env in (dict(os.environ), watched)
        ]
    return {"bare_mib": round(mib[0], 1), "watched_mib": round(mib[1], 1), "added_mib": round(mib[1] - mib[0], 1)}


if __name__ == "__main__":
    main()
