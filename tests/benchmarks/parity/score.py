"""`ups-doctor parity` on planted defects: each called by its name, with its factor, and healthy ones the same.

python tests/benchmarks/parity/score.py [NAME ...]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))  # run by hand, from anywhere

from diagnostics.machine.this import open_machine
from diagnostics.parity.engine import Parity, run_parity
from diagnostics.parity.request import Form, ParityRequest
from diagnostics.parity.words import headline
from tests.parity.defects import DEFECTS, HEALTHY

PROGRAMS = Path(__file__).parents[2] / "parity/defects.py"
# Healthy programs under other settings of ours.
SETTINGS: dict[str, tuple[str, dict[str, object]]] = {
    "fsdp2": ("healthy", {"wrap": "fsdp2"}),
    "fsdp2 adamw": ("healthy_adamw", {"wrap": "fsdp2"}),
    "fsdp2 clipped": ("healthy_clipped", {"wrap": "fsdp2"}),
    "accumulate 2": ("healthy", {"accumulate": 2}),
    "fsdp2 accumulate 2": ("healthy", {"wrap": "fsdp2", "accumulate": 2}),
    "float32": ("healthy_adamw", {"dtype": "float32"}),
    "bf16 autocast": ("healthy", {"dtype": "float32", "amp": "bf16"}),
    "compile": ("healthy", {"compiled": True}),
    "3 ranks": ("healthy", {"nproc": 3, "make": f"{PROGRAMS}:healthy_by_nine"}),
}


def main(wanted: list[str]) -> int:
    """Prints one line a program; returns 1 where one is not what it must be."""
    wrong = 0
    with open_machine(sys.executable) as machine, tempfile.TemporaryDirectory(prefix="ups-parity-bench-") as work:
        machine.ranks.warm(for_modules=True)
        for number, (name, request, expected) in enumerate(_all(wanted)):
            began = time.monotonic()
            found = run_parity(request, machine, Path(work) / str(number), lambda _: None)
            said = _called(found)
            good = said == expected
            wrong += not good
            print(f"{'ok   ' if good else 'WRONG'} {name:30} {' '.join(said):60} {time.monotonic() - began:5.1f} s")
            if not good:
                print(f"      expected {' '.join(expected)}\n      {headline(found)}\n{found.output[-2000:]}")
                for one in found.explanations:
                    print(f"      {one.code} {one.name} {one.factor}: {one.sentence}")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


def _all(wanted: list[str]) -> list[tuple[str, ParityRequest, tuple[str, str]]]:
    plain = [(name, name, {}, expected) for name, expected in DEFECTS.items()]
    plain += [(name, name, {}, ("same", "")) for name in HEALTHY]
    plain += [(name, make, settings, ("same", "")) for name, (make, settings) in SETTINGS.items()]
    return [
        (name, _request(make, settings), expected)
        for name, make, settings, expected in plain
        if not wanted or name in wanted
    ]


def _request(make: str, settings: dict[str, object]) -> ParityRequest:
    spec = f"{PROGRAMS}:{make}"
    whole = {"form": Form.MADE, "name": make, "make": spec, "python": sys.executable, **settings}
    return ParityRequest(**whole)  # type: ignore[arg-type]


def _called(found: Parity) -> tuple[str, str]:
    if found.exit_code == 0 and not found.remarks:
        return "same", ""
    if found.exit_code == 3:
        return "undecided", found.undecided
    if not found.explanations:
        return "unknown", ""
    return found.explanations[0].name, found.explanations[0].factor


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
