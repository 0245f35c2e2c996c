"""What it costs to be watched by the agent. One command, JSON on stdout:

    python tests/benchmarks/agent_cost.py [--pairs 40]

Bare and watched are measured in turn, and ratios are medians over pairs: single medians of a machine that
throttles are not comparable. The steps are measured inside one watched process, by putting the bare
`Module.__call__` back for every other block.
"""

from __future__ import annotations

import argparse
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

from diagnostics.record import agent_environment, make_record_folder


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


def step_costs(pairs: int) -> dict[str, object]:
    """Runs `inside` in a process that is watched from its start."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **agent_environment(make_record_folder(Path(folder) / "record")), "OMP_NUM_THREADS": "1"}
        argv = [sys.executable, __file__, "--inside", "--pairs", str(pairs)]
        child = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    answer: dict[str, object] = json.loads(child.stdout.splitlines()[-1])
    return answer


def inside(pairs: int) -> dict[str, object]:
    """Cost of one module call, one construction and of training steps, in this watched process."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    watched_call = nn.Module.__call__
    bare_call = watched_call.__wrapped__

    def timed(work: Callable[[], object], call: object, repeats: int) -> Callable[[], float]:
        def run() -> float:
            nn.Module.__call__ = call  # type: ignore[method-assign, assignment]
            began = time.perf_counter()
            for _ in range(repeats):
                work()
            return (time.perf_counter() - began) / repeats

        return run

    def both(
        bare: Callable[[], object], watched: Callable[[], object], repeats: int, scale: float, unit: str
    ) -> object:
        for _ in range(3):
            timed(bare, bare_call, 1)()
            timed(watched, watched_call, 1)()
        sides = timed(bare, bare_call, repeats), timed(watched, watched_call, repeats)
        return compared(*pairs_of(*sides, pairs), scale, unit)

    empty, x = nn.Identity(), torch.ones(1)
    answer: dict[str, object] = {"module_call": both(lambda: empty(x), lambda: empty(x), 5000, 1e9, "ns")}
    for name, dim, tokens in (("tiny_step", 32, 16), ("step", 128, 128)):
        eager = step_of(dim, tokens, compiled=False)
        repeats = 20 if name == "tiny_step" else 3
        answer[f"{name}_eager"] = both(eager, eager, repeats, 1e3, "ms")
        if shutil.which("c++"):
            nn.Module.__call__ = bare_call  # type: ignore[method-assign]
            bare = step_of(dim, tokens, compiled=True)
            bare()
            nn.Module.__call__ = watched_call  # type: ignore[method-assign]
            watched = step_of(dim, tokens, compiled=True)
            answer[f"{name}_compiled"] = both(bare, watched, repeats, 1e3, "ms")
    return answer


def step_of(dim: int, tokens: int, *, compiled: bool) -> Callable[[], object]:
    """Returns one training step of a small transformer."""
    import torch
    from torch import nn

    layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
    model: nn.Module = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters())
    called = torch.compile(model) if compiled else model
    x = torch.randn(4, tokens, dim)

    def step() -> None:
        called(x).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def main() -> None:
    """Prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(inside(options.pairs)))
        return
    start = {
        "python_start": start_cost(options.pairs, bytecode=True),
        "python_start_without_bytecode": start_cost(options.pairs, bytecode=False),
    }
    print(json.dumps({**start, **step_costs(options.pairs)}, indent=2))


if __name__ == "__main__":
    main()
