"""From where ranks went apart to the line that decided it, over small programs."""

from __future__ import annotations

import pytest
from flow.marked_source import marked
from flow.partings import NOTHING, PARTINGS

from diagnostics.analysis.decide import decisions


def shown(decision):
    return f"{decision.frame.file.removeprefix('/job/')}:{decision.frame.line}"


@pytest.mark.parametrize("name", PARTINGS)
def test_the_decision_is_named_first_and_not_the_wait(name):
    kind, text = PARTINGS[name]
    case = marked(text)
    found = decisions(case.sources, case.parting)
    first = found[0] if found else None
    assert (shown(first), first.kind) == (case.first[0], kind), found
    assert set(case.also) <= {shown(one) for one in found}, found


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_can_be_said_nothing_is(name):
    case = marked(NOTHING[name])
    assert decisions(case.sources, case.parting) == ()
