"""Traces as JSON, and as dumps that torch's own analyser reads."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_trace import TRACE, call, lane
from shown_text import HOSTILE, poisoned

from diagnostics.core.registry import discover
from diagnostics.export import formats
from diagnostics.export.flat_events import spans_of
from diagnostics.export.formats import chrome, flight_recorder, json_lines, otel

FORMATS = discover(formats, key="FORMAT")


def only(files: dict[str, bytes]) -> Any:
    (data,) = files.values()
    return json.loads(data)


def test_a_chrome_trace_has_each_span_once_and_an_arrow_where_ranks_met() -> None:
    events = only(chrome.files(TRACE))["traceEvents"]
    calls = [
        (one["pid"], one["name"], one["ts"], one["dur"])
        for one in events
        if one.get("cat") == "collective" and one["ph"] == "X"
    ]
    assert calls == [
        (0, "all_reduce #16", 2e6, 5e5), (0, "all_reduce #17 (never left)", 2.6e6, 6e5),
        (1, "all_reduce #15", 1e6, 1e5), (1, "all_reduce #16", 2e6, 5e5),
    ]  # fmt: skip
    assert [(one["ph"], one["pid"], one["name"]) for one in events if one["ph"] in "sf"] == [
        ("s", 0, "0 of 0 #16"),
        ("f", 1, "0 of 0 #16"),
    ]
    assert len([one for one in events if one["ph"] == "X"]) == sum(
        len(list(spans_of(TRACE, one))) for one in TRACE.lanes
    )


def test_json_lines_have_one_object_a_line_and_the_job_first() -> None:
    (data,) = json_lines.files(TRACE).values()
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines[0] == {
        "kind": "job", "schema": 1, "command": "torchrun train.py", "started_ns": TRACE.started_ns, "until_s": 3.3,
        "ranks": 2,
    }  # fmt: skip
    waits = [one for one in lines if one["kind"] == "collective" and one["ended_s"] is None]
    assert [(one["rank"], one["name"], one["began_s"]) for one in waits] == [(0, "all_reduce #17", 2.6)]


def test_otlp_spans_are_nested_below_their_rank_with_unique_ids() -> None:
    resources = only(otel.files(TRACE))["resourceSpans"]
    spans = [span for one in resources for span in one["scopeSpans"][0]["spans"]]
    ids = {span["spanId"] for span in spans}
    assert len(ids) == len(spans)
    assert len({span["traceId"] for span in spans}) == 1
    assert [span["name"] for span in spans if "parentSpanId" not in span] == ["rank 0", "rank 1"]
    assert {span["parentSpanId"] for span in spans if "parentSpanId" in span} <= ids
    assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in spans)
    (forward,) = {span["parentSpanId"] for span in spans if span["name"] == "forward" and span is spans[3]}
    assert forward == next(span["spanId"] for span in spans if span["name"] == "step 1")


def test_calls_that_overlap_have_tracks_of_their_own() -> None:
    one = lane(0, steps=(), calls=(call(1, 1.0, 3.0), call(2, 2.0, 4.0), call(3, 3.5, 5.0), call(4, 4.0, 4.5)))
    tracks = [(span.name, span.track) for span in spans_of(TRACE, one)]
    assert tracks == [
        ("all_reduce #1", "collectives"), ("all_reduce #2", "collectives 2"), ("all_reduce #3", "collectives"),
        ("all_reduce #4", "collectives 2"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_every_format_takes_whatever_things_are_called(name: str) -> None:
    told = poisoned(TRACE, name)
    for module in FORMATS.values():
        for file, data in module.files(told).items():
            assert data, file
            assert not Path(file).is_absolute()


ANALYSE = """
import sys
from torch.distributed.flight_recorder.fr_trace import main
for folder in sys.argv[1:]:
    print("of", folder, file=sys.stderr, flush=True)
    main(["--prefix", "rank_", folder])
"""


def test_torch_s_analyser_finds_in_the_dumps_who_is_missing_and_nobody_in_those_of_a_healthy_job(
    tmp_path: Path,
) -> None:
    for kind, trace in (("missing", TRACE), ("healthy", replace(TRACE, lanes=(lane(0), lane(1))))):
        for name, data in flight_recorder.files(trace).items():
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    argv = [
        sys.executable,
        "-c",
        ANALYSE,
        "missing/flight-recorder",
        "healthy/flight-recorder",
    ]  # torch is none of ours
    said = subprocess.run(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    missing, healthy = said.stdout.split("of healthy/flight-recorder\n")
    assert "Not all ranks joining collective, sequence number: 18" in missing
    assert "missing ranks: {1}" in missing
    assert "step at train.py:31" in missing
    assert "missing" not in healthy


def test_a_dump_holds_plain_values_with_the_sizes_that_torch_gives_them() -> None:
    gathers = (
        call(3, 1.0, 1.1, op="all_gather_into_tensor"),
        call(4, 1.2, 1.3, op="reduce_scatter_tensor"),
        call(5, 2.0, 2.1, op="barrier", shape="", dtype=""),
    )
    one = lane(0, calls=(*gathers, call(-1, 3.0, 3.1, op="send", root=1, meeting="")))
    (data,) = flight_recorder.files(replace(TRACE, lanes=(one,))).values()
    entries = pickle.loads(data)["entries"]  # noqa: S301 - our own
    assert [(one["profiling_name"], one["input_sizes"], one["output_sizes"], one["state"]) for one in entries] == [
        ("nccl:_all_gather_base", [[8, 3]], [[48]], "completed"),
        ("nccl:_reduce_scatter_base", [[8, 3]], [[12]], "completed"),
        ("nccl:barrier", [[1]], [[1]], "completed"),
        ("nccl:send 0->1", [[8, 3]], [[8, 3]], "completed"),
    ]
