"""What an experiment says on the terminal and on the page."""

from __future__ import annotations

import json
from pathlib import Path

from measurements import measured, of_step, row, same
from small_disk import written_without_room_for_the_page

from diagnostics.parity import page, words
from diagnostics.parity.engine import Parity, explained
from diagnostics.parity.measured import Measured
from diagnostics.parity.request import Form, ParityRequest, precision_of
from diagnostics.parity.runs import what_was_raised

REQUEST = ParityRequest(form=Form.SCRIPT, name="train.py", python="python", argv=("python", "train.py", "--lr", "1"))
SCALED = {"factor": 2.0, "residual": 1e-15, "by_parameter": {"layer.weight": {"factor": 2.0, "residual": 1e-15}}}


def parity(found: Measured | None, **more: object) -> Parity:
    explanations = explained(found) if found else ()
    settings = {"measured": found, "explanations": explanations, **more}
    precision = precision_of("float64", autocast=False)
    return Parity(request=REQUEST, dtype="float64", precision=precision, **settings)  # type: ignore[arg-type]


def test_a_healthy_program_gets_its_table_and_one_sentence() -> None:
    found = parity(measured(of_step(), rows=[same("loss"), same("gradient")]))
    assert found.exit_code == 0
    assert words.headline(found) == (
        "2 ranks compute what one process computes: largest relative difference 1e-16 in 1 step, "
        "tolerance 1e-09 in float64."
    )
    assert list(page.terminal_lines(found)) == [
        "  quantity  largest difference  where",
        "  loss      1.0e-16             step 0, rank 0, layer.weight",
        "  gradient  1.0e-16             step 0, rank 0, layer.weight",
    ]


def test_a_difference_is_told_with_cause_proof_line_and_fix() -> None:
    found = parity(measured(of_step(factors=SCALED), rows=[same("loss"), row("gradient")]))
    assert found.exit_code == 1
    assert words.headline(found) == (
        "2 ranks do not compute what one process computes: "
        "the gradient is exactly 2 times that of one process (2 = number of ranks)."
    )
    assert list(page.terminal_lines(found)) == [
        "  quantity  largest difference  where",
        "  loss      1.0e-16             step 0, rank 0, layer.weight",
        "  gradient  5.0e-01             step 0, rank 0, layer.weight  differs",
        "  first  step 0: gradient of layer.weight (module layer), rank 0: 2, in one process 1",
        "  why    Y107 scaled-gradient, factor 2 = number of ranks",
        "  proof  ranks = 2 x one process in 1 parameters, largest residual 1e-15",
        "  line   /job/train.py:7",
        "  fix    divide by the number of ranks exactly once: all_reduce sums, DistributedDataParallel averages",
    ]


def test_an_undecided_experiment_says_why_and_what_to_run() -> None:
    found = parity(None, undecided="with 2 ranks, rank 1 ended with signal 11", output="one\ntwo\n")
    assert found.exit_code == 3
    assert words.headline(found) == "Undecided: with 2 ranks, rank 1 ended with signal 11."
    assert list(page.terminal_lines(found)) == [
        "  | one",
        "  | two",
        "  next   ups-doctor run -- torchrun --standalone --nproc-per-node 2 train.py --lr 1",
    ]


def test_the_page_holds_the_same() -> None:
    found = parity(measured(of_step(factors=SCALED), rows=[same("loss"), row("gradient")]))
    assert page.markdown([found], "ups-doctor parity --script train.py").splitlines() == [
        "# parity",
        "",
        "`ups-doctor parity --script train.py`",
        "",
        "## train.py",
        "",
        "2 ranks do not compute what one process computes: the gradient is exactly 2 times that of one process "
        "(2 = number of ranks).",
        "",
        "It begins at step 0: gradient of layer.weight (module layer), rank 0: 2, in one process 1.",
        "",
        "### Y107 scaled-gradient",
        "",
        "The gradient is exactly 2 times that of one process (2 = number of ranks).",
        "",
        "- ranks = 2 x one process in 1 parameters, largest residual 1e-15",
        "- at `/job/train.py:7`",
        "",
        "Fix: divide by the number of ranks exactly once: all_reduce sums, DistributedDataParallel averages.",
        "",
        "### Largest relative differences",
        "",
        "| quantity | largest difference | where                        |         |",
        "| -------- | ------------------ | ---------------------------- | ------- |",
        "| loss     | 1.0e-16            | step 0, rank 0, layer.weight | same    |",
        "| gradient | 5.0e-01            | step 0, rank 0, layer.weight | differs |",
        "",
        "One process ran the same script; its loaders gave it what those of all ranks gave, joined. It started from "
        "rank 0's parameters, and what the models drew at random was handed out again. float64; up to 1e-09 of the "
        "largest number of a tensor counts as the same.",
    ]


def test_the_report_for_programs_has_the_same_verdict() -> None:
    found = parity(measured(of_step(factors=SCALED)))
    body = json.loads(page.json_text([found], command="ups-doctor parity x:y", exit_code=1))
    assert (body["schema"], body["kind"], body["exit_code"]) == (1, "parity", 1)
    (one,) = body["experiments"]
    assert one["headline"] == words.headline(found)
    assert [(said["code"], said["factor"]) for said in one["explanations"]] == [("Y107", "2 = number of ranks")]


def test_notes_are_differences_where_they_are_asked_to_be() -> None:
    masks = measured(rows=[same("gradient"), row("random numbers", 1.0, name="dropout", rank=1, place=0)])
    found = parity(masks)
    assert found.exit_code == 0
    strict = ParityRequest(form=Form.SCRIPT, name="train.py", python="python", strict=True)
    assert Parity(request=strict, measured=masks, explanations=found.explanations).exit_code == 1


def test_where_its_page_cannot_be_written_the_last_line_says_why(tmp_path: Path) -> None:
    found = parity(measured(of_step(), rows=[same("loss"), same("gradient")]))
    said, told = written_without_room_for_the_page(
        tmp_path, lambda folder: page.write_report([found], folder, command="ups-doctor parity", exit_code=0)
    )
    assert said == "report: PLACE/report.md"
    assert told == "report: PLACE/report.md (no report.html: cannot write PLACE/report.html: the disk is full)"


def test_what_ended_a_rank_is_the_beginning_of_what_was_raised_and_not_the_last_line_of_its_advice() -> None:
    raised = "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one."
    told = f"Traceback (most recent call last):\n  File a.py\n{raised}\nParameter indices: 2 3\n In addition, set X\n"
    assert what_was_raised(told) == raised
    assert what_was_raised(f"ValueError: first\n{told}") == raised
    assert what_was_raised("killed by the system\n\n") == "killed by the system"
    assert what_was_raised("") == "it said nothing"
    assert len(what_was_raised(f"{raised} {'and so on ' * 99}")) <= 200
