"""Every mode that the trainer admits, beside one rank: the validation error, the time of a step, and each drill.

    python tests/benchmarks/training/modes.py [--strategy NAME] [--compiled] [--resumed] [--drills] [--only TEXT]
        [--output FILE.json]

Both stages of a tiny run on gloo, 2 ranks (hsdp: 4), the modes one after the other. --compiled adds torch.compile,
minutes each; --resumed stops each mode in the middle and goes on from the checkpoint, which has to end with the same
bits; --drills lets each rank fail in each phase of each stage under each strategy, with --compiled compiled ones, too.
--only makes the rows whose name has TEXT in it. FILE is written after each strategy; rows that it holds of other modes
stay, so that the table can be made in pieces.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "ups"), str(TESTS)]  # our package before the tests of that name
STAGES = ("autoencoder", "operator")
STRATEGIES: dict[str, tuple[int, dict[str, Any]]] = {
    "ddp": (2, {}),
    "fsdp2": (2, {"strategy": "fsdp2"}),
    "hsdp": (4, {"strategy": "hsdp", "shard_ranks": 2}),
}
PRECISIONS = {"float32": 1e-5, "bfloat16": 5e-3, "float16": 5e-3}  # how far the validation error may be off
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "micro-batches": {"micro_batch": 3},
    "micro-batches that fit": {"micro_batch": "auto"},
    "activations again": {"activation_checkpointing": True},
    "weights kept": {"reshard_after_forward": False},
}
COMPILED: dict[str, Any] = {"blocks compiled": "blocks", "whole compiled": True}
FAILURES = (
    "memory phase=loader",
    "memory phase=forward",
    "memory phase=backward",
    "memory phase=optimizer",
    "nan phase=forward",
    "batch phase=loader",
)
STEP = 2  # at which a drill is
OF_COMPILED = 1e-4  # how far a compiled model's validation error may be off: it sums in another order
RESUMED = ", resumed"
STOPS = "all ranks stop, and the last checkpoint is good"


def modes(strategy: str, *, compiled: bool) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Yields name, settings, and how far the validation error may be off."""
    _, base = STRATEGIES[strategy]
    for precision, tolerance in PRECISIONS.items():
        for variant, more in VARIANTS.items():
            if variant == "weights kept" and strategy == "ddp":
                continue
            yield f"{strategy}, {precision}, {variant}", {**base, "precision": precision, **more}, tolerance
        for what, how in compiled_ways(strategy, compiled=compiled):
            yield f"{strategy}, {precision}, {what}", {
                **base, "precision": precision, "compile": how
            }, max(tolerance, OF_COMPILED)  # fmt: skip


def compiled_ways(strategy: str, *, compiled: bool) -> Iterator[tuple[str, Any]]:
    """Yields how a strategy may be compiled."""
    for what, how in COMPILED.items() if compiled else ():
        if how is not True or strategy == "ddp":
            yield what, how


def drills(strategy: str, *, compiled: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields a failure of each rank in each phase of each stage."""
    ranks, base = STRATEGIES[strategy]
    for what, how in (("", False), *compiled_ways(strategy, compiled=compiled)):
        for stage in STAGES:
            for failure in FAILURES:
                for rank in range(ranks):
                    drill = f"{failure} rank={rank} step={STEP} stage={stage}"
                    name = f"{strategy}, {what}{', ' if what else ''}{drill}"
                    only = {"stages": [stage], "compile": how} if what else {}
                    yield name, {**base, "max_skips": 1, "drill": drill, **only}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--resumed", action="store_true")
    parser.add_argument("--drills", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--strategy", choices=STRATEGIES, action="append", help="default: all")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    from small_run import write_config, write_data

    with tempfile.TemporaryDirectory(prefix="ups-modes-") as name:
        folder = Path(name)
        write_data(folder)
        stage = {"epochs": 2, "batch_size": 13, "lr": 0.01}
        config = write_config(folder, stages={name: dict(stage) for name in STAGES})
        reference = run(config, 1, {"one": {"strategy": "none"}})["one"]
        rows: list[dict[str, Any]] = []
        for strategy in options.strategy or STRATEGIES:
            rows += table(config, strategy, reference, options)
            if options.output:
                keep(options.output, reference, rows)
    print(f"\n{'mode':<72} autoencoder  operator     ms     of one rank")
    for row in rows:
        numbers = [f"{row[stage]:.6f}" if isinstance(row.get(stage), float) else "stopped" for stage in STAGES]
        print(f"{row['mode']:<72} {numbers[0]:<12} {numbers[1]:<9} {row.get('ms', 0):6.1f}   {row['verdict']}")
    bad = [row["mode"] for row in rows if not row["good"]]
    print(f"\n{len(rows)} modes and drills, {len(bad)} that differ{': ' if bad else ''}{'; '.join(bad)}")
    return bool(bad)


def keep(path: Path, reference: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Writes the rows, in the place of those of the same modes that the file holds."""
    held = json.loads(path.read_text())["rows"] if path.exists() else []
    made = {row["mode"] for row in rows}
    whole = [*(row for row in held if row["mode"] not in made), *rows]
    path.write_text(json.dumps({"one rank": reference, "rows": whole}, indent=2) + "\n")


def table(
    config: Path, strategy: str, reference: dict[str, Any], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yields a row for each mode of a strategy, and for each drill."""
    ranks, _ = STRATEGIES[strategy]
    every = modes(strategy, compiled=options.compiled)
    wanted = {name: (mode, tolerance) for name, mode, tolerance in every if options.only in name}
    going_on = {name + RESUMED: {**mode, "then": mode} for name, (mode, _) in wanted.items()} if options.resumed else {}
    found = run(config, ranks, {name: mode for name, (mode, _) in wanted.items()} | going_on) if wanted else {}
    for name, (mode, tolerance) in wanted.items():
        yield judged(name, found[name], reference, tolerance, compiles=bool(mode.get("compile")))
        if name + RESUMED in found:
            yield judged_resumed(name + RESUMED, found[name + RESUMED], found[name])
    if options.drills:
        failing = {name: one for name, one in drills(strategy, compiled=options.compiled) if options.only in name}
        for name, one in run(config, ranks, failing).items():
            tolerance = OF_COMPILED if failing[name].get("compile") else PRECISIONS["float32"]
            yield judged_drill(name, one, reference, failing[name].get("stages", STAGES), tolerance)


def judged(
    name: str, found: dict[str, Any], reference: dict[str, Any], tolerance: float, *, compiles: bool
) -> dict[str, Any]:
    """Returns the row of a mode: it is good where both errors are those of one rank, and all ranks are alike."""
    off = max(abs(found[stage] / reference[stage] - 1) for stage in STAGES)
    good = off <= tolerance and all(found[f"{stage} alike"] for stage in STAGES)
    good = good and all(bool(found[f"{stage} graphs"]) == compiles for stage in STAGES)  # it did compile
    return {
        "mode": name, **found, "ms": found["operator ms"], "good": good,
        "verdict": f"{off:.0e} of {tolerance:.0e}" + ("" if good else "   <-- differs"),
    }  # fmt: skip


def judged_resumed(name: str, found: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a mode that was stopped and went on: bit for bit what it came to without a stop."""
    good = all(found[f"{stage} {what}"] == whole[f"{stage} {what}"] for stage in STAGES for what in ("digest", "alike"))
    good = good and all(found[stage] == whole[stage] for stage in STAGES)
    return {"mode": name, **found, "good": good, "verdict": "bit-equal" if good else "   <-- differs"}


def judged_drill(
    name: str, found: dict[str, Any], reference: dict[str, Any], trained: Sequence[str], tolerance: float
) -> dict[str, Any]:
    """Returns the row of a drill: memory is the same run as without, others leave a batch out, or all stop."""
    stage = name.rpartition("stage=")[2]
    if "phase=optimizer" in name:
        good = str(found[stage]).endswith(STOPS)
        return {"mode": name, **found, "good": good, "verdict": "stopped alike" if good else "<-- went on"}
    off = abs(found[stage] / reference[stage] - 1)
    skips = found[f"{stage} steps, pieces, skips"][2]
    good = all(found[f"{one} alike"] for one in trained)
    good = good and (off <= tolerance and not skips if ", memory" in name else skips == 1)
    said = f"{off:.0e}, {skips} batches left out, alike" + ("" if good else "   <-- differs")
    return {"mode": name, **found, "ms": found[f"{stage} ms"], "good": good, "verdict": said}


def run(config: Path, ranks: int, wanted: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Returns what each mode came to on so many ranks."""
    from small_run import clean_environment

    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        program = [str(TESTS / "ups" / "modes_rank.py"), file.name, str(config), json.dumps(wanted)]
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", *program]
        subprocess.run(command, check=True, env=clean_environment() | {"UPS_NO_DOCTOR": "1"})
        found: dict[str, Any] = json.loads(Path(file.name).read_text())
        return found


if __name__ == "__main__":
    sys.exit(main())
