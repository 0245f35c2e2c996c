"""A state that was loaded into an optimizer which was made anew afterwards is told with the call that makes it."""

from __future__ import annotations

from dataclasses import replace

from hand_made import a_job, a_process, agent, event, frame

from diagnostics.diagnosis.updates import restored_state_unused
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import LifecycleEvent


def at(told: LifecycleEvent, *places: tuple[str, str]) -> LifecycleEvent:
    """Returns the event with this call path, innermost first."""
    return replace(told, path=tuple(frame(place, function) for place, function in places))


MADE = at(event("optimizer", "AdamW"), ("train.py:20", "configure"), ("train.py:40", "main"))
LOADED = at(event("optimizer-restored", "AdamW", value=4), ("train.py:30", "resume"), ("train.py:41", "main"))
ANEW = at(
    event("optimizer", "AdamW"), ("train.py:20", "configure"), ("train.py:25", "unfreeze"), ("train.py:42", "main")
)
UNUSED = at(event("restored-optimizer-unused", "AdamW", value=10), ("train.py:50", "fit"), ("train.py:43", "main"))


def ranks_with(*events: LifecycleEvent) -> Job:
    processes = [
        a_process(100 + number, rank=number, agent=agent(*events, pid=100 + number, steps=40)) for number in (0, 1)
    ]
    return a_job(*processes, code=0)


def test_the_optimizer_that_was_made_after_the_state_was_loaded_is_named() -> None:
    found = restored_state_unused.match(ranks_with(MADE, LOADED, ANEW, UNUSED))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("state-not-kept", (0, 1))
    assert found.locations == ("train.py:20", "train.py:25", "train.py:42", "train.py:30")
    assert found.finding.title == (
        "The state that was loaded at train.py:30 is used by no step: AdamW was made anew at train.py:20 for the same "
        "parameters"
    )


def test_one_that_was_made_before_is_said_to_make_the_steps() -> None:
    found = restored_state_unused.match(ranks_with(MADE, LOADED, UNUSED))
    assert found is not None
    assert found.locations == ("train.py:30",)
    assert found.finding.title.endswith("used by no step: another AdamW of the same parameters makes them")


def test_a_state_that_steps_use_is_left_alone() -> None:
    assert restored_state_unused.match(ranks_with(MADE, LOADED, ANEW)) is None
    assert restored_state_unused.match(ranks_with(MADE, UNUSED)) is None
