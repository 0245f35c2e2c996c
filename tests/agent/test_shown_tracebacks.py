"""Tracebacks that a job shows are those it would show alone: nothing of the agent is in them."""

from __future__ import annotations

from types import FunctionType

import pytest

from diagnostics.agent import shown_tracebacks

SHOWN = """
    import logging, sys, threading, traceback
    import torch
    from torch.utils.data import DataLoader

    class Rows(torch.utils.data.Dataset):
        def __len__(self): return 8
        def __getitem__(self, index): return {0: torch.ones(2)}[index]

    class Bad(torch.nn.Module):
        def forward(self, x): return self.missing(x)

    def failing(grad): raise ValueError("in a hook")

    def train(workers):
        for batch in DataLoader(Rows(), num_workers=workers): pass

    def step():
        weight = torch.ones(2, requires_grad=True)
        torch.optim.SGD([weight], lr=0.1).step(lambda: failing(None))

    def backward():
        weight = torch.ones(2, requires_grad=True)
        twice = 2 * weight
        twice.register_hook(failing)
        twice.sum().backward()

    def forward(): torch.nn.Sequential(torch.nn.Linear(2, 2), Bad())(torch.ones(1, 2))

    class Destroyed:
        def __del__(self): forward()

    for what in (lambda: train(0), lambda: train(1), step, backward, forward, lambda: torch.save({}, "/absent/x.pt")):
        try: what()
        except Exception as error:
            traceback.print_exc()
            logging.exception("logged")
    thread = threading.Thread(target=forward); thread.start(); thread.join()
    Destroyed()
    try: forward()
    except AttributeError as error: raise RuntimeError("the last one") from error
"""


def test_a_traceback_is_shown_as_it_would_be_without_the_agent(watch_warm):
    bare = watch_warm(SHOWN, watched=False)
    watched = watch_warm(SHOWN)
    assert (watched.returncode, bare.returncode) == (1, 1)
    assert _shown(watched.stderr) == _shown(bare.stderr)
    assert bare.stderr.count("Traceback") > 16
    (agent, *_) = watched.record.agents
    texts = [event.text for event in agent.events if event.kind in ("exception", "thread-exception", "unraisable")]
    assert texts == [
        "AttributeError: 'Bad' object has no attribute 'missing'",
        "AttributeError: 'Bad' object has no attribute 'missing'",
        "RuntimeError: the last one",
    ]


def _shown(text: str) -> list[str]:
    """Returns the lines without addresses, numbers of processes and names of threads."""
    return [line.partition(" at 0x")[0].partition("(pid(s)")[0] for line in text.splitlines()]


def _fail():
    raise ValueError("x")


def test_a_traceback_of_the_agent_alone_stays_and_below_the_jobs_frames_it_goes():
    code = _fail.__code__.replace(co_filename=shown_tracebacks.__file__)
    with pytest.raises(ValueError, match="x") as failed:
        FunctionType(code, {})()
    first = failed.value.__traceback__
    own = first.tb_next
    assert shown_tracebacks.unlinked(own) is own
    assert shown_tracebacks.without_own(failed.value, first) is first
    assert first.tb_next is None


def test_a_chain_of_exceptions_that_goes_round_ends():
    first, second = ValueError("a"), ValueError("b")
    first.__context__, second.__cause__ = second, first
    assert shown_tracebacks.without_own(first, None) is None
