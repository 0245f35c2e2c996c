"""What a Python parent did with the code of a training that failed: stories by hand, sources real."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import agent, case, event, raised, story

from diagnostics.dynamic.exit_status.failure_handling import FailureFate, failure_fates
from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.static.launch_files.shell_exit_status import Fate

STARTED = "pid=2 how=popen reads=1 | python train.py"


def job(tmp_path: Path, source: str, *reads: tuple[str, int], started: str = STARTED, others: tuple = ()) -> Job:
    """Returns a job whose launch.py started a training on its first line that failed; `reads` are looks at its end."""
    file = f"{tmp_path}/launch.py"
    looks = [event("child-read", f"pid=2 how={how}", f"{file}:{line}") for how, line in reads]
    parent = story(
        1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"),
        agent=agent(event("child", started, f"{file}:1"), *looks),
    )  # fmt: skip
    failed = story(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),), agent=agent(steps=3))
    return case(parent, failed, *others, code=0, cwd=tmp_path, files={"launch.py": source})


def fate(made: Job) -> tuple[Fate, tuple[str, ...]]:
    """Returns what became of the failure, and the places at which that is seen."""
    found: FailureFate = failure_fates(made)[0]
    return found.fate, found.places


@pytest.mark.parametrize(
    ("source", "read", "used"),
    [
        ("p = Popen(x)\np.wait()", ("wait", 2), False),
        ("p = Popen(x); p.wait(); print('done')", ("wait", 1), False),
        ("p = Popen(x)\ncode = p.wait()", ("wait", 2), False),
        ("p = Popen(x)\n[one.wait() for one in (p,)]", ("wait", 2), False),
        ("p = Popen(x)\nwhile p.poll() is None:\n    sleep(1)", ("poll", 2), False),
        ("p = Popen(x)\nassert p.returncode is not None", ("returncode", 2), False),
        ("_, status = spawn()\n_, status = os.waitpid(1, 0)", ("waitpid", 2), False),
        ("call(x)", ("call", 1), False),
        ("async def run():\n    await p.wait()", ("wait", 2), False),
        ("p = Popen(x)\nif p.wait():\n    print('failed')", ("wait", 2), True),
        ("p = Popen(x)\ncode = p.wait()\nprint(code)", ("wait", 2), True),
        ("p = Popen(x)\ncodes.append(p.wait())", ("wait", 2), True),
        ("p = Popen(x)\nself.code = p.wait()", ("wait", 2), True),
        ("p = Popen(x)\nwhile not p.poll():\n    sleep(1)", ("poll", 2), True),
        ("p = Popen(x)\nassert p.returncode == 1", ("returncode", 2), True),
        ("_, status = spawn()\n_, status = os.waitpid(1, 0)\nprint(status)", ("waitpid", 2), True),
        ("return_code = call(x)\nsys.exit(return_code)", ("call", 1), True),
        ("async def run():\n    if await p.wait():\n        print('failed')", ("wait", 2), True),
        ("", ("wait", 2), True),  # no source: nothing is known to be dropped
    ],
)
def test_a_code_that_was_handed_over_counts_as_read_where_the_source_uses_it(
    source: str, read: tuple[str, int], used: bool, tmp_path: Path
) -> None:
    found, places = fate(job(tmp_path, source, read))
    assert (found, places[:1]) == ((Fate.HANDLED, ()) if used else (Fate.DROPPED, (f"launch.py:{read[1]}",)))


def test_a_code_that_nobody_looked_at_is_dropped_where_the_child_was_started(tmp_path: Path) -> None:
    assert fate(job(tmp_path, "Popen(x)")) == (Fate.DROPPED, ("launch.py:1",))


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        ("pid=2 how=popen reads=1 test=pytest | python train.py", Fate.HANDLED),
        ("pid=2 how=process reads=1 pool=1 | train", Fate.UNKNOWN),
        ("pid=2 how=popen | python train.py", Fate.UNKNOWN),  # its agent did not watch for reads
        ("pid=3 how=popen reads=1 | python other.py", Fate.UNKNOWN),  # nobody knows who started it
    ],
)
def test_what_a_test_expects_a_future_tells_or_nobody_saw_is_not_dropped(
    started: str, expected: Fate, tmp_path: Path
) -> None:
    assert fate(job(tmp_path, "Popen(x)", started=started))[0] is expected


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ("except Exception as error:\n    print('failed', error)", Fate.DROPPED),
        ("except Exception:\n    pass", Fate.DROPPED),
        ("except Exception:\n    logging.exception('failed')\n    sys.exit(0)", Fate.DROPPED),
        ("finally:\n    os._exit(0)", Fate.DROPPED),
        ("except Exception:\n    failed.append(x)", Fate.HANDLED),
        ("except Exception:\n    run(smaller)", Fate.HANDLED),
        ("except Exception:\n    ok = False", Fate.HANDLED),
        ("except Exception:\n    print('again')\n    raise", Fate.HANDLED),  # who let it go on is not in this file
    ],
)
def test_an_exception_that_told_the_parent_is_dropped_where_its_handler_only_says_so(
    handler: str, expected: Fate, tmp_path: Path
) -> None:
    found, places = fate(job(tmp_path, f"try:\n    run(x)\n{handler}", ("raised", 2)))
    leaving = 5 if "sys.exit" in handler else 4 if "os._exit" in handler else 3
    assert (found, places) == (
        (Fate.DROPPED, (f"launch.py:{leaving}", "launch.py:2")) if expected is Fate.DROPPED else (expected, ())
    )


def test_suppress_drops_what_pytest_raises_expects(tmp_path: Path) -> None:
    suppressed = fate(job(tmp_path, "with suppress(Exception):\n    run(x)", ("raised", 2)))
    assert suppressed == (Fate.DROPPED, ("launch.py:1", "launch.py:2"))
    assert fate(job(tmp_path, "with pytest.raises(Exception):\n    run(x)", ("raised", 2)))[0] is Fate.HANDLED


def test_one_trial_of_many_may_fail_where_the_handler_says_so(tmp_path: Path) -> None:
    other = story(3, argv=("python", "train.py", "--lr", "1"), agent=agent(steps=9), rank=1)
    source = "try:\n    run(x)\nexcept Exception:\n    print('failed')"
    assert fate(job(tmp_path, source, ("raised", 2), others=(other,)))[0] is Fate.HANDLED


@pytest.mark.parametrize(("argv", "expected"), [("python", Fate.DROPPED), ("pytest", Fate.HANDLED)])
def test_what_a_runner_of_tests_started_was_expected_where_it_says_0(argv: str, expected: Fate, tmp_path: Path) -> None:
    made = job(tmp_path, "Popen(x)")
    runner = story(7, part=ProcessRole.HELPER, rank=None, argv=(argv, "tests"), parent_pid=0)
    below = made.processes[0]
    nested = case(
        runner,
        story(1, part=ProcessRole.HELPER, rank=None, argv=below.argv, agent=below.agent, parent_pid=7),
        made.processes[1],
        code=0,
        cwd=tmp_path,
    )
    assert fate(nested)[0] is expected


def test_the_same_command_that_ran_again_to_a_good_end_made_it_good_whoever_looked(tmp_path: Path) -> None:
    again = story(3, began_s=3.5, at_s=9.0, agent=agent(steps=9))
    other = story(3, began_s=3.5, at_s=9.0, agent=agent(steps=9), argv=("python", "train.py", "--small"))
    assert fate(job(tmp_path, "Popen(x)", others=(again,)))[0] is Fate.HANDLED
    assert fate(job(tmp_path, "Popen(x)", others=(other,)))[0] is Fate.DROPPED


def test_another_run_that_stands_under_a_condition_answers_what_no_code_told(tmp_path: Path) -> None:
    other = story(3, began_s=3.5, at_s=9.0, agent=agent(steps=9), argv=("python", "train.py", "--small"))
    for source, expected in (
        ("Popen(x)\nif not Path('model.pt').exists():\n    Popen(y)", Fate.HANDLED),
        ("Popen(x)\nif __name__ == '__main__':\n    Popen(y)", Fate.DROPPED),
    ):
        file = f"{tmp_path}/launch.py"
        second = event("child", "pid=3 how=popen reads=1 | python train.py --small", f"{file}:3")
        made = job(tmp_path, source, others=(other,))
        parent = made.processes[0]
        both = replace(parent, agent=agent(*parent.agent.events, second))
        assert fate(case(both, *made.processes[1:], code=0, cwd=tmp_path))[0] is expected


def test_a_handler_that_tells_one_failure_from_another_is_an_answer(tmp_path: Path) -> None:
    handler = "except Exception as error:\n    if 'known' not in str(error):\n        raise\n    print('again')"
    source = f"try:\n    run(x)\n{handler}"
    assert fate(job(tmp_path, source, ("raised", 2)))[0] is Fate.HANDLED


@pytest.mark.parametrize(("began_s", "expected"), [(0.5, Fate.HANDLED), (5.0, Fate.DROPPED)])
def test_who_is_told_of_one_rank_is_told_of_those_that_ran_beside_it(
    began_s: float, expected: Fate, tmp_path: Path
) -> None:
    file = f"{tmp_path}/launch.py"
    started = [event("child", f"pid={pid} how=process reads=1 | spawn", f"{file}:2") for pid in (2, 3)]
    looked = event("child-read", "pid=3 how=raised", f"{file}:2")
    parent = story(
        1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"), agent=agent(*started, looked), at_s=20.0
    )
    failed = story(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),), agent=agent(steps=3))
    other = story(3, rank=1, code=1, began_s=began_s, at_s=began_s + 2.0, agent=agent(steps=3))
    source = "try:\n    spawn(train)\nexcept Exception:\n    spawn(smaller)"
    made = case(parent, failed, other, code=0, cwd=tmp_path, files={"launch.py": source})
    assert {one.story.pid: one.fate for one in failure_fates(made)}[2] is expected
