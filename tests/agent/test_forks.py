"""What a process that forks without end leaves: the first children, and of the later ones those that have to tell."""

from __future__ import annotations

from pathlib import Path

PROGRAM = """
import os
for at in range(230):
    pid = os.fork()
    if not pid:
        if at == 210:
            os._exit(3)
        if at == 220:
            try:
                raise ValueError("swallowed")
            finally:
                os._exit(0)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def test_of_later_forks_only_those_that_tell_something_keep_their_files(watch):
    run = watch(PROGRAM)
    children = [agent for agent in run.record.agents if agent.forked_from]
    assert len(children) == 202
    told = [[(event.kind, event.value) for event in agent.events if event.kind != "caught"] for agent in children]
    assert sorted(map(str, told)).count("[('os._exit', 3)]") == 1
    assert [event.text.partition(" | ")[2] for one in children for event in one.events if event.kind == "caught"] == [
        "ValueError: swallowed"
    ]
    stems = {path.stem.partition("-")[2] for path in Path(run.record.folder).iterdir()}
    assert len(stems) == 203


def test_after_thousands_of_forks_no_file_is_made_and_the_children_run(watch):
    run = watch(
        "import os, sys\n"
        "sys.modules['_ups_doctor_agent'].agent.forks.count = 2000\n"
        "if not os.fork():\n    print('child', flush=True)\n    os._exit(4)\n"
        "print(os.waitstatus_to_exitcode(os.wait()[1]))"
    )
    assert run.stdout == "child\n4\n"
    assert len(run.record.agents) == 1
