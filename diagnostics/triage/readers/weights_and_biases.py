"""W&B's offline and online run folders: the `.wandb` file itself, the logs of the client, and the files beside it.

The file is written in blocks: of a run that was killed in its first seconds it holds 7 bytes and no record, however
much was logged. Then `logs/debug.log` still has settings, process id and time.
"""

from __future__ import annotations

import ast
import json
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from diagnostics.core import untrusted_json
from diagnostics.record import untrusted_files
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.tracebacks import tracebacks
from diagnostics.triage.decoding import protobuf_wire as wire
from diagnostics.triage.decoding.leveldb_log import LogReader
from diagnostics.triage.decoding.times import iso_s
from diagnostics.triage.readers.common import error_words, newest_change_s, usual_gap_s
from diagnostics.triage.trace import Claim, Folder, RunTrace, flat

KIND = "wandb"
OWNS = True
MAGIC = b":W&B"
HEADER_BYTES = 7
FEW_ROWS = 50
# Field numbers of wandb_internal.proto.
HISTORY, CONFIG, STATS, RUN, EXIT, PREEMPTING, ENVIRONMENT = 2, 5, 7, 17, 18, 23, 26
VALUE_JSON = 16
_FOLDER = re.compile(r"^(?:offline-)?run-(?P<time>\d{8}_\d{6})-(?P<id>.+)$")
_LINE = re.compile(r"^(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+) \w+\s+\w+:(?P<pid>\d{1,10}) ")
_EXIT = re.compile(r"got exitcode: (-?\d{1,5})")
_CONFIG = re.compile(r"^config: (\{.{0,100000}\})$", re.MULTILINE)


def find(folder: Folder) -> Iterator[Path]:
    """Yields the folder itself where it is a run's."""
    if _FOLDER.match(folder.path.name) and (folder.files(".wandb") or {"files", "logs"} & folder.folders):
        yield folder.path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the one run of a folder."""
    made = _FOLDER.match(path.name)
    stored = _Stored()
    file = next(iter(sorted(path.glob("*.wandb"))), None)
    if file is not None:
        stored.read(file)
    log = _text(path / "logs" / "debug.log")
    exits = [int(one) for one in _EXIT.findall(log)]
    exit_code = stored.exit_code if stored.exit_code is not None else (exits[-1] if exits else None)
    output = _text(path / "files" / "output.log") or stored.output
    summary, metadata = _json(path / "files" / "wandb-summary.json"), _json(path / "files" / "wandb-metadata.json")
    started = stored.started_s or _started_s(log) or iso_s(str(metadata.get("startedAt", "")))
    changed = newest_change_s(path)
    first_line = _LINE.match(log)
    world_size = stored.environment.get("world_size")
    told_step = _whole(summary.get("_step"), None)
    runtime = stored.runtime_s or summary.get("_runtime")
    yield RunTrace(
        source=KIND, path=str(path),
        run_id=stored.run_id or (made["id"] if made else path.name),
        project=stored.project,
        program=str(stored.environment.get("program") or metadata.get("program") or ""),
        started_s=started,
        ended_s=changed if exit_code is not None else None,
        last_sign_s=max(filter(None, (changed, stored.last_stat_s, stored.last_row_s)), default=None),
        last_row_s=stored.last_row_s,
        last_stat_s=stored.last_stat_s,
        row_gap_s=stored.row_gap_s,
        rows=stored.rows or (told_step + 1 if told_step is not None else 0),
        records_end=True,
        rows_are_all=stored.exit_code is not None and not stored.problem,
        last_step=stored.last_step if stored.last_step is not None else told_step,
        runtime_s=float(runtime) if isinstance(runtime, (int, float)) else None,
        host=str(stored.environment.get("host") or metadata.get("host") or ""),
        pid=int(first_line["pid"]) if first_line else None,
        world_size=world_size if isinstance(world_size, int) else None,
        exit_code=exit_code,
        said=_said(exit_code, stored.preempting),
        said_words="" if exit_code is None else f"W&B recorded exit code {exit_code}",
        error=error_words(tracebacks(output)),
        config={**_config_in(log), **stored.config},
        environment={**flat(metadata), **stored.environment},
        notes=tuple(_notes(file, stored)),
    )  # fmt: skip


def _notes(file: Path | None, stored: _Stored) -> Iterator[str]:
    if file is None:
        yield "there is no .wandb file"
    elif not stored.records:
        yield (
            f"{file.name} holds {file.stat().st_size} bytes and no record: W&B had not written its buffer, "
            "so rows may have been logged and lost"
        )
    if stored.problem:
        yield f"{file.name if file else ''}: {stored.problem} after {stored.records} records"
    if stored.preempting:
        yield "the run marked itself as being preempted"


class _Stored:
    """What the .wandb file holds."""

    def __init__(self) -> None:
        self.records = self.rows = 0
        self.run_id = self.project = self.problem = self.output = ""
        self.exit_code: int | None = None
        self.runtime_s: float | None = None
        self.started_s: float | None = None
        self.last_row_s: float | None = None
        self.last_stat_s: float | None = None
        self.row_gap_s: float | None = None
        self.last_step: int | None = None
        self.preempting = False
        self.config: dict[str, str | int | float | bool | None] = {}
        self.environment: dict[str, str | int | float | bool | None] = {}

    def read(self, path: Path) -> None:
        first_rows: list[bytes] = []
        last_rows: deque[bytes] = deque(maxlen=FEW_ROWS)
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                self.problem = "this is no W&B file"
                return
            log = LogReader(file, header_bytes=HEADER_BYTES)
            for record in log:
                self.records += 1
                try:
                    kind, data = next(((number, value) for number, value in wire.fields(record) if number in _KINDS),
                                      (0, b""))  # fmt: skip
                    if kind == HISTORY and isinstance(data, bytes):
                        self.rows += 1
                        if len(first_rows) < FEW_ROWS:
                            first_rows.append(data)
                        last_rows.append(data)
                    elif isinstance(data, bytes):
                        self._take(kind, data)
                except ValueError as error:
                    self.problem = str(error)
            self.problem = self.problem or log.problem
        self._take_rows(first_rows, last_rows)

    def _take_rows(self, first_rows: list[bytes], last_rows: deque[bytes]) -> None:
        times = [time for row in last_rows if (time := _number(_items(row).get("_timestamp"))) is not None]
        self.row_gap_s = usual_gap_s(times)
        if last_rows:
            items = _items(last_rows[-1])
            self.last_row_s = _number(items.get("_timestamp"))
            self.last_step = _whole(items.get("_step"), None)
            self.runtime_s = self.runtime_s or _number(items.get("_runtime"))

    def _take(self, kind: int, data: bytes) -> None:
        if kind == RUN:
            self.run_id, self.project = wire.text(data, 1), wire.text(data, 3)
            for number, value in wire.fields(data):
                if number == 17 and isinstance(value, bytes):
                    self.started_s = wire.timestamp(value)
                elif number == 4 and isinstance(value, bytes):
                    self._settings(value)
                elif number == 13 and isinstance(value, bytes):
                    self.environment["host"] = value.decode("utf-8", "replace")
                elif number == 21 and isinstance(value, bytes):
                    self.environment["commit"] = wire.text(value, 2)
        elif kind == CONFIG:
            self._settings(data)
        elif kind == EXIT:
            self.exit_code = wire.signed(wire.first(data, 1) or 0)
            self.runtime_s = float(wire.first(data, 2) or 0) or self.runtime_s
        elif kind == STATS:
            time = wire.first(data, 2)
            self.last_stat_s = wire.timestamp(time) if isinstance(time, bytes) else self.last_stat_s
        elif kind == ENVIRONMENT:
            self._environment(data)
        elif kind == PREEMPTING:
            self.preempting = True

    def _settings(self, data: bytes) -> None:
        self.config |= {name: value for name, value in flat(_items(data, 1)).items() if not name.startswith("_wandb")}

    def _environment(self, data: bytes) -> None:
        names = {1: "os", 2: "python", 6: "program", 12: "host", 18: "gpu_type", 19: "gpu_count", 25: "cuda"}
        for number, value in wire.fields(data):
            if number in names:
                self.environment[names[number]] = (
                    value.decode("utf-8", "replace") if isinstance(value, bytes) else int(value)
                )
            elif number == 9 and isinstance(value, bytes):
                self.environment["commit"] = wire.text(value, 2)


_KINDS = {HISTORY, CONFIG, STATS, RUN, EXIT, PREEMPTING, ENVIRONMENT}


def _items(data: bytes, field: int = 1) -> dict[str, object]:
    """Returns {key: value} of items that carry JSON: (key = 1 or nested_key = 2, value_json = 16)."""
    found: dict[str, object] = {}
    for number, value in wire.fields(data):
        if number != field or not isinstance(value, bytes):
            continue
        names: list[str] = []
        content = b""
        for part, inner in wire.fields(value):
            if part in (1, 2) and isinstance(inner, bytes):
                names.append(inner.decode("utf-8", "replace"))
            elif part == VALUE_JSON and isinstance(inner, bytes):
                content = inner
        try:
            found[".".join(names)] = untrusted_json.loads(content)
        except ValueError:
            continue
    return found


def _said(exit_code: int | None, preempting: bool) -> Claim:
    if exit_code is None:
        return Claim.KILLED if preempting else Claim.NOTHING
    return Claim.FAILED if exit_code else Claim.FINISHED


def _started_s(log: str) -> float | None:
    line = _LINE.match(log)
    return iso_s(line["time"]) if line else None


def _config_in(log: str) -> dict[str, str | int | float | bool | None]:
    """Returns the settings that the client wrote into its log as Python's text."""
    found = _CONFIG.search(log)
    if not found:
        return {}
    try:
        value = ast.literal_eval(found[1])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return {name: item for name, item in flat(value).items() if not name.startswith("_wandb")}


def _text(path: Path) -> str:
    try:
        return untrusted_files.read_output(path)
    except (OSError, AgentFileError):
        return ""


def _json(path: Path) -> dict[str, object]:
    try:
        value = json.loads(_text(path) or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _whole(value: object, otherwise: int | None) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise
