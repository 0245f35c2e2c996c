"""Hostile outputs through reading and diagnosis: no crash, no hang, no signature that could not be asked.

    python tests/benchmarks/output_fuzz.py [--minutes 60] [--seed 1]

Each case is a record of two ranks of which one failed, with an output made of hostile pieces, as the relay's keeper
would have left it, or a log file alone. Looked at: the diagnosis ends within its deadline, says what it could not ask,
and its pages can be read again.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from diagnostics.core.errors import UsageError
from diagnostics.diagnosis.with_deadline import diagnose_in_time, examine_in_time
from diagnostics.report.page import json_text, markdown
from diagnostics.supervisor import output_copies

Piece = Callable[[random.Random, int], bytes]


def _frames(chance: random.Random, size: int) -> bytes:
    lines = b'  File "train.py", line 3, in f\n    f()\n'
    return b"Traceback (most recent call last):\n" + lines * (size // len(lines)) + b"RecursionError: maximum depth\n"


def _table(chance: random.Random, size: int) -> bytes:
    rows = (
        b"=====\n", b"train.py FAILED\n", b"Failures:\n", b"  <NO_OTHER_FAILURES>\n",
        b"Root Cause (first observed failure):\n",
        b"[0]:\n", b"  time      : \n", b"  rank      : 1 (local_rank: 1)\n", b"  rank      : 99999999999 (local\n",
        b"  exitcode  : -9 (pid: 13)\n", b"  exitcode  : (pid: )\n", b"  error_file: <N/A>\n", b"------\n",
        b"E1121 12:57:26.400000 11 torch/elastic/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 13)\n",
    )  # fmt: skip
    return b"".join(chance.choice(rows) for _ in range(size // 30))


def _json(chance: random.Random, size: int) -> bytes:
    return chance.choice((b"[" * size, b'{"a":' * (size // 5), b'{"traceEvents": [' + b'{"ph": "X"},' * (size // 12)))


def _mixed(chance: random.Random, size: int) -> bytes:
    names = list(PIECES)
    return b"".join(PIECES[chance.choice(names)](chance, size // 8) for _ in range(8))


PIECES: dict[str, Piece] = {
    "no newline": lambda chance, size: b"a b" * (size // 3),
    "one word": lambda chance, size: bytes([chance.randrange(33, 127)]) * size,
    "carriage returns": lambda chance, size: b"\r" * size,
    "progress bars": lambda chance, size: b"".join(b"\r %d%% |####| 3/7 [00:01<00:02]" % n for n in range(size // 30)),
    "escapes": lambda chance, size: b"\x1b[31m\x1b]0;title\x07\x1b[2J" * (size // 20),
    "binary": lambda chance, size: chance.randbytes(size),
    "invalid utf-8": lambda chance, size: b"\xff\xfe\xc3(\xe2\x82" * (size // 6),
    "nuls": lambda chance, size: b"\0" * size,
    "empty lines": lambda chance, size: b"\n" * size,
    "spaces": lambda chance, size: b" " * size,
    "deep traceback": _frames,
    "heads of tracebacks": lambda chance, size: b"Traceback (most recent call last):\n" * (size // 35),
    "indented heads": lambda chance, size: b"".join(
        b" " * (n % 200) + b"Traceback (most recent call last):\n" for n in range(size // 130)
    ),
    "faulthandler": lambda chance, size: b"Fatal Python error: Aborted\n\nThread 0x0001 (most recent call first):\n"
    + b'  File "a.py", line 1 in f\n' * (size // 27),
    "torchrun's table": _table,
    "json": _json,
    "rank prefixes": lambda chance, size: b"".join(b"[rank%d]: x: y\n" % (n % 99) for n in range(size // 15)),
    "colons": lambda chance, size: b"a: " * (size // 3),
    "secrets": lambda chance, size: chance.choice((b"token=", b"--password ", b"://a:", b"-----BEGIN PRIVATE KEY-----"))
    * (size // 12),
    "nccl": lambda chance, size: b"host:1:2 [0] NCCL WARN Cuda failure 'x' NCCL INFO Channel 0 : " * (size // 64),
}  # fmt: skip
ENDS = (
    b"", b"\n", b'\nTraceback (most recent call last):\n  File "train.py", line 3, in <module>\nKeyError: 1\n',
    b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", b"\nSegmentation fault (core dumped)\n",
)  # fmt: skip


def output(chance: random.Random, size: int, name: str = "") -> tuple[str, bytes]:
    """Returns the kind of a hostile output, and its bytes."""
    name = name or chance.choice([*PIECES, "mixed"])
    made = _mixed(chance, size) if name == "mixed" else PIECES[name](chance, size)
    return name, made + chance.choice(ENDS)


def record(folder: Path, written: bytes) -> None:
    """Makes a report folder as `ups-doctor run` leaves it, for a job of two ranks that wrote this."""
    for part in ("agents", "output", "captures", "sources"):
        (folder / "record" / part).mkdir(parents=True)
    end = {"exit_code": 1, "at_s": 2.0, "source": "pidfd"}
    ranks = [
        {"pid": 10 + rank, "start_ticks": 5, "ppid": 1, "argv": ["python", "train.py"],
         "variables": {"RANK": str(rank)},
         "end": end if rank else {"signal": 15, "at_s": 2.5, "source": "pidfd"}}
        for rank in range(2)
    ]  # fmt: skip
    facts = {
        "command": ["torchrun", "train.py"],
        "cwd": "/",
        "started_ns": 1,
        "ended_s": 3.0,
        "exit_code": 1,
        "processes": ranks,
    }
    (folder / "record" / "job.json").write_text(json.dumps({**facts, "processes": ranks}))
    head, tail = written[: 128 << 10], written[128 << 10 :][-(512 << 10) :]
    left_out = len(written) - len(head) - len(tail)
    stream = io.BytesIO()
    for name in ("all.txt", "10-5.stdout.txt", "11-5.stderr.txt"):
        stream.write(json.dumps([name, len(head), len(tail), left_out]).encode() + b"\n" + head + tail)
    stream.seek(0)
    output_copies.keep(stream, folder / "record" / "output")


def one_case(chance: random.Random, size: int, folder: Path, name: str = "") -> tuple[str, float, str]:
    """Runs one case; returns its kind, how long it took, and what was wrong with it ("" nothing)."""
    kind, written = output(chance, size, name)
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    try:
        if chance.random() < 0.5:
            record(folder, written)
            report, _ = diagnose_in_time(folder)
            json.loads((folder / "report.json").read_bytes())
        else:
            folder.mkdir(parents=True)
            (folder / "train.log").write_bytes(written)
            report = examine_in_time(None, [folder / "train.log"])
            json.loads(json_text(report))
            markdown(report).encode("utf-8")
    except UsageError as error:
        return kind, time.monotonic() - began, "" if "is no text" in error.message else error.message
    except Exception as error:  # what the fuzz looks for
        return kind, time.monotonic() - began, f"{type(error).__name__}: {str(error)[-600:]}"
    gaps = [one for one in report.not_captured if one.startswith("signature ")]
    return kind, time.monotonic() - began, "; ".join(gaps)


def main() -> int:
    """Runs the fuzz and prints its counts; exit code 1 where something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    folder = Path(tempfile.mkdtemp(prefix="output-fuzz-"))
    until, done, wrong = time.monotonic() + 60 * given.minutes, Counter[str](), 0
    longest = (0.0, "")
    try:
        while time.monotonic() < until:
            size = int(2 ** chance.uniform(8, 22))
            kind, took_s, said = one_case(chance, size, folder / "case")
            done[kind] += 1
            longest = max(longest, (took_s, f"{kind}, {size} bytes"))
            if said:
                wrong += 1
                print(f"case {sum(done.values())}, {kind}, {size} bytes, {took_s:.1f} s: {said}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for kind, count in sorted(done.items()):
        print(f"{count:6d}  {kind}")
    print(f"{sum(done.values())} outputs, {wrong} with a problem (seed {given.seed})")
    print(f"longest {longest[0]:.1f} s: {longest[1]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
