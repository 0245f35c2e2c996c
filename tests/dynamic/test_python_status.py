"""What a Python parent did with the code of a training that failed: processes by hand, sources real."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event, frame, raised

from diagnostics.dynamic.exit_status.failure_handling import FailureFate, failure_fates
from diagnostics.dynamic.job.job import ExceptionSource, Job, ProcessRole
from diagnostics.static.launch_files.status_flow import Fate

DROPPED, HANDLED, UNKNOWN = Fate.DROPPED, Fate.HANDLED, Fate.UNKNOWN
STARTED = "pid=2 how=popen reads=1 | python train.py"


def a_driver(tmp_path: Path, source: str, *reads: tuple[str, int], started: str = STARTED, others: tuple = ()) -> Job:
    """Returns a job whose launch.py started a training on its first line that failed; `reads` are looks at its end."""
    file = f"{tmp_path}/launch.py"
    looks = [event("child-read", f"pid=2 how={how}", f"{file}:{line}") for how, line in reads]
    parent = a_process(
        1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"),
        agent=agent(event("child", started, f"{file}:1"), *looks),
    )  # fmt: skip
    failed = a_process(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),), agent=agent(steps=3))
    return a_job(parent, failed, *others, code=0, cwd=tmp_path, files={"launch.py": source})


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
        # A code that is shown, or written down, and nothing more.
        ("p = Popen(x)\nif p.wait():\n    print('failed')", ("wait", 2), False),
        ("p = Popen(x)\ncode = p.wait()\nprint(code)", ("wait", 2), False),
        ("p = Popen(x)\nbad = p.wait() != 0\nif bad:\n    print('bad')\nelse:\n    print('good')", ("wait", 2), False),
        ("for x in trials:\n    if call(x):\n        print('failed')", ("call", 2), False),
        ("p = Popen(x)\ncodes.append(p.wait())", ("wait", 2), False),
        ("p = Popen(x)\nself.code = p.wait()", ("wait", 2), False),
        ("_, status = spawn()\n_, status = os.waitpid(1, 0)\nprint(status)", ("waitpid", 2), False),
        ("async def run():\n    if await p.wait():\n        print('failed')", ("wait", 2), False),
        ("rows = []\nrows.append((x, call(x)))\nwriter.writerows(rows)", ("call", 2), False),
        ("def run(x):\n    return call(x)\nfor x in y:\n    log.info('%s: %d', x, run(x))", ("call", 2), False),
        ("if call(x):\n    log.error('failed')\n    sys.exit(0)\nevaluate()", ("call", 1), False),
        ("def run(x):\n    return call(x)\ndef main():\n    run(1)\nmain()", ("call", 2), False),
        ("class Job:\n    def go(self):\n        self.code = call(x)\njob.go()\nprint(job.code)", ("call", 3), False),
        ("def run(x, codes):\n    codes[x] = call(x)\ncodes = {}\nrun(1, codes)\nprint(codes)", ("call", 2), False),
        # A start again that failed as well, and nothing after that.
        ("for x in y:\n    if call(x) == 0:\n        break\n    print('next')", ("call", 2), False),
        (
            "while True:\n    if call(x) == 0:\n        break\n    n += 1\n    if n > 2:\n        break",
            ("call", 2),
            False,
        ),
        # One that decides, or goes where that is not seen.
        ("p = Popen(x)\nif p.wait():\n    raise SystemExit(1)", ("wait", 2), True),
        ("p = Popen(x)\nif p.wait():\n    print('failed')\n    retry()", ("wait", 2), True),
        ("def run():\n    code = call(x)\n    print(code)\n    return code", ("call", 2), True),
        ("p = Popen(x)\nwhile not p.poll():\n    sleep(1)", ("poll", 2), True),
        ("p = Popen(x)\nassert p.returncode == 1", ("returncode", 2), True),
        ("return_code = call(x)\nsys.exit(return_code)", ("call", 1), True),
        ("codes = [call(x) for x in y]\nsys.exit(max(codes))", ("call", 1), True),
        ("codes = [call(x) for x in y]\nfailed = [x for x, c in zip(y, codes) if c]\nretry(failed)", ("call", 1), True),
        ("if call(x) == 0:\n    sys.exit(0)\nsmaller()", ("call", 1), True),
        ("for x in y:\n    if call(x):\n        break\n    print('next')", ("call", 2), True),  # stops there
        (
            "class Job:\n    def go(self):\n        self.code = call(x)\njob.go()\nif job.code:\n    retry()",
            ("call", 3),
            True,
        ),
        ("def run(x, codes):\n    codes[x] = call(x)\ncodes = {}\nrun(1, codes)\ncheck(codes)", ("call", 2), True),
        ("def run(x):\n    return call(x)\ndef main():\n    return run(1)\nsys.exit(main())", ("call", 2), True),
        ("", ("wait", 2), True),  # no source: nothing is known to be dropped
    ],
)
def test_a_code_that_was_handed_over_counts_as_read_where_the_source_uses_it(
    source: str, read: tuple[str, int], used: bool, tmp_path: Path
) -> None:
    found, places = fate(a_driver(tmp_path, source, read))
    assert (found, places[:1]) == ((Fate.HANDLED, ()) if used else (Fate.DROPPED, (f"launch.py:{read[1]}",)))


@pytest.mark.parametrize(
    ("source", "how", "line"),
    [
        ("for x in y:\n    if call(x) == 0:\n        break\n    print('next')", "call", 2),
        ("while n < 3:\n    p = Popen(x)\n    if not p.wait():\n        break\n    n += 1", "wait", 3),
    ],
)
def test_a_start_that_failed_before_one_of_the_same_line_ended_well_was_answered(
    source: str, how: str, line: int, tmp_path: Path
) -> None:
    file = f"{tmp_path}/launch.py"
    starts = [event("child", f"pid={pid} how=popen reads=1 | python train.py", f"{file}:2") for pid in (2, 3)]
    parent = a_process(
        1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"),
        agent=agent(starts[0], event("child-read", f"pid=2 how={how}", f"{file}:{line}"), starts[1]),
    )  # fmt: skip
    failed = a_process(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),), agent=agent(steps=3))
    for code, expected in ((0, HANDLED), (1, DROPPED)):
        second = a_process(3, rank=1, code=code, agent=agent(steps=3))
        made = a_job(parent, failed, second, code=0, cwd=tmp_path, files={"launch.py": source})
        assert next(one.fate for one in failure_fates(made) if one.process is failed) is expected


AWAITED = "async def run(x):\n    return call(x)\nasync def main():\n    %s\n"
CLASS = "class Job:\n    def go(self):\n        self.code = call(x)\n"


@pytest.mark.parametrize(
    ("source", "line", "used"),
    [
        ("worst = 0\nfor x in y:\n    worst |= call(x)\nsys.exit(worst)", 3, True),
        ("worst = 0\ndef run(x):\n    global worst\n    worst |= call(x)\nrun(1)\nsys.exit(worst)", 4, True),
        ("def run(x):\n    return call(x)\ncodes = list(pool.map(run, y))\nif any(codes):\n    sys.exit(1)", 2, True),
        ("def run(x):\n    return call(x)\nRUNS = {'a': run}\nRUNS[z](1)", 2, True),
        ("def run(x):\n    yield call(x)\nfor code in run(1):\n    if code:\n        again()", 2, True),
        ("match call(x):\n    case 0:\n        print('well')\n    case 3:\n        again()", 1, True),
        ("code = call(x)\nwhile code and left:\n    code = call(x)", 1, True),
        ("FOR_CODE.get(call(x), fail)()", 1, True),
        ("import click\n@click.command()\ndef main():\n    return call(x)\nmain()", 4, True),
        (CLASS + "    @property\n    def ok(self):\n        return not self.code\nif job.ok:\n    again()", 3, True),
        (CLASS + "    def ok(self):\n        return self.code == 0\nbest([j for j in jobs if j.ok()])", 3, True),
        (CLASS + "def watch(jobs):\n    return [j.code for j in jobs]\nsys.exit(max(watch(jobs)))", 3, True),
        ("try:\n    if call(x):\n        raise Failed(x)\nexcept Failed:\n    again()", 2, True),
        (AWAITED % "return sum(await gather(run(1)))" + "sys.exit(asyncio.run(main()))", 2, True),
        ("if call(x):\n    print('failed')\n    raise SystemExit(2)", 1, True),
        ("code = call(x)\nif code:\n    ok = False\nfinish(ok)", 1, True),
        ("import subprocess\ndef run(x):\n    subprocess.run(x)\ncode = call(x)\nif code:\n    run(y)", 4, True),
        ("if call(x):\n    tuner.search(smaller)", 1, True),
        ("class Pool:\n    def get(self, x):\n        start(x)\nif call(x):\n    pool.get(x)", 4, True),
        ("todo = Queue()\nwhile True:\n    x = todo.get()\n    if call(x):\n        todo.put(x)", 4, True),
        ("client.report(call(x))", 1, True),  # whoever gets it
        ("def run(x):\n    yield call(x)\nfor code in run(1):\n    print(code)", 2, False),
        (CLASS + "    @property\n    def ok(self):\n        return self.code == 0\nprint(job.ok)", 3, False),
        (AWAITED % "print(await gather(run(1)))" + "asyncio.run(main())", 2, False),
        ("def tell(x, code):\n    log.info('%s ended with %s', x, code)\ntell(1, call(x))", 3, False),
    ],
)  # fmt: skip
def test_a_code_is_followed_through_the_program_to_what_it_decides(
    source: str, line: int, used: bool, tmp_path: Path
) -> None:
    assert fate(a_driver(tmp_path, source, ("call", line)))[0] is (HANDLED if used else DROPPED)


COROUTINE = "async def fit(x):\n    p = await start(x)\n    %s\nasync def main():\n    %s\n"
RAISES = "if await p.wait(): raise ValueError(x)"
KEPT = "return_exceptions=True"


@pytest.mark.parametrize(
    ("body", "main", "expected"),
    [
        (RAISES, f"await asyncio.gather(*(fit(x) for x in y), {KEPT})", DROPPED),
        (RAISES, "asyncio.create_task(fit(1))", DROPPED),
        (RAISES, "await asyncio.gather(*(fit(x) for x in y))", HANDLED),
        (RAISES, f"found = await asyncio.gather(*(fit(x) for x in y), {KEPT})", HANDLED),
        (RAISES, f"check(await asyncio.gather(fit(1), {KEPT}))", HANDLED),
        (RAISES, "await asyncio.create_task(fit(1))", HANDLED),
        (RAISES, f"await asyncio.gather(fit(1), {KEPT})\n    await fit(2)", HANDLED),
        ("if await p.wait(): failed.append(x)", f"await asyncio.gather(fit(1), {KEPT})\n    retry(failed)", HANDLED),
    ],
)
def test_what_a_coroutine_raises_for_a_code_is_dropped_where_nobody_looks_at_what_gather_collected(
    body: str, main: str, expected: Fate, tmp_path: Path
) -> None:
    found, places = fate(a_driver(tmp_path, COROUTINE % (body, main), ("wait", 3)))
    assert (found, places[:1]) == (expected, ("launch.py:5",) if expected is DROPPED else ())


def test_a_code_that_nobody_looked_at_is_dropped_where_the_child_was_started(tmp_path: Path) -> None:
    assert fate(a_driver(tmp_path, "Popen(x)")) == (Fate.DROPPED, ("launch.py:1",))


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
    assert fate(a_driver(tmp_path, "Popen(x)", started=started))[0] is expected


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ("except Exception as error:\n    print('failed', error)", Fate.DROPPED),
        ("except Exception:\n    pass", Fate.DROPPED),
        ("except Exception:\n    logging.exception('failed')\n    sys.exit(0)", Fate.DROPPED),
        ("finally:\n    os._exit(0)", Fate.DROPPED),
        ("except Exception:\n    failed.append(x)\nprint(failed)", Fate.DROPPED),
        ("except Exception:\n    failed.append(x)\nretry(failed)", Fate.HANDLED),
        ("except Exception:\n    run(smaller)", Fate.HANDLED),
        ("except Exception:\n    ok = False\nsys.exit(0 if ok else 1)", Fate.HANDLED),
        ("except Exception:\n    print('again')\n    raise", Fate.HANDLED),  # who let it go on is not in this file
    ],
)
def test_an_exception_that_told_the_parent_is_dropped_where_its_handler_only_says_so(
    handler: str, expected: Fate, tmp_path: Path
) -> None:
    found, places = fate(a_driver(tmp_path, f"try:\n    run(x)\n{handler}", ("raised", 2)))
    leaving = 5 if "sys.exit" in handler else 4 if "os._exit" in handler else 3
    assert (found, places) == (
        (Fate.DROPPED, (f"launch.py:{leaving}", "launch.py:2")) if expected is Fate.DROPPED else (expected, ())
    )


def test_suppress_drops_what_pytest_raises_expects(tmp_path: Path) -> None:
    suppressed = fate(a_driver(tmp_path, "with suppress(Exception):\n    run(x)", ("raised", 2)))
    assert suppressed == (Fate.DROPPED, ("launch.py:1", "launch.py:2"))
    assert fate(a_driver(tmp_path, "with pytest.raises(Exception):\n    run(x)", ("raised", 2)))[0] is Fate.HANDLED


def test_one_trial_of_many_may_fail_where_the_handler_says_so(tmp_path: Path) -> None:
    other = a_process(3, argv=("python", "train.py", "--lr", "1"), agent=agent(steps=9))
    source = "try:\n    run(x)\nexcept Exception:\n    print('failed')"
    assert fate(a_driver(tmp_path, source, ("raised", 2), others=(other,)))[0] is Fate.HANDLED


SWEEP = "rows = []\nfor x in grid:\n    code = call(x)\n    %s\nprint(rows)"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("rows.append((x, 'ok' if code == 0 else 'failed'))", HANDLED),  # a trial that the program calls failed
        ("rows.append((x, code))", DROPPED),
        ("if code == 0: rows.append(x)", HANDLED),
        ("print('failed' if code else 'ok')", DROPPED),
        ("if code: print('failed')", DROPPED),
        ("log.info('%s: %d', x, code)", DROPPED),
    ],
)
def test_a_trial_that_its_driver_marks_as_failed_beside_others_was_meant_to_be_possible(
    said: str, expected: Fate, tmp_path: Path
) -> None:
    trial = a_process(3, argv=("python", "train.py", "--lr", "1"), agent=agent(steps=9), began_s=5.0)
    mate = a_process(3, argv=("python", "train.py", "--rank", "1"), agent=agent(steps=9), rank=1)
    source = SWEEP % said
    assert fate(a_driver(tmp_path, source, ("call", 3), others=(trial,)))[0] is expected
    assert fate(a_driver(tmp_path, source, ("call", 3), others=(mate,)))[0] is DROPPED  # of the same training
    assert fate(a_driver(tmp_path, source, ("call", 3)))[0] is DROPPED


def test_a_trial_whose_future_nobody_asks_is_dropped_whatever_the_others_did_at_the_call_that_hands_it_over(
    tmp_path: Path,
) -> None:
    other = a_process(3, argv=("python", "train.py", "--lr", "1"), agent=agent(steps=9), rank=1)
    source = "def job(x):\n    run(x)\nwith Pool() as pool:\n    for x in grid:\n        pool.submit(job, x)"
    made = a_driver(tmp_path, source, others=(other,))
    parent = made.processes[0]
    path = (frame(f"{tmp_path}/launch.py:2", "job"),)
    lost = replace(raised("CalledProcessError: 1", how=ExceptionSource.UNASKED), path=path, user_path=path)
    read = replace(event("child-read", "pid=2 how=raised", sequence=9), path=path)
    told = replace(parent, raised=(lost,), agent=agent(*parent.agent.events, read))
    found = failure_fates(a_job(told, *made.processes[1:], code=0, cwd=tmp_path))[0]
    assert (found.fate, found.places) == (Fate.DROPPED, ("launch.py:5", "launch.py:2"))
    assert found.advice == "keep the future and ask it for its result(), which raises what the job raised"


@pytest.mark.parametrize(("argv", "expected"), [("python", Fate.DROPPED), ("pytest", Fate.HANDLED)])
def test_what_a_runner_of_tests_started_was_expected_where_it_says_0(argv: str, expected: Fate, tmp_path: Path) -> None:
    made = a_driver(tmp_path, "Popen(x)")
    runner = a_process(7, part=ProcessRole.HELPER, rank=None, argv=(argv, "tests"), parent_pid=0)
    below = made.processes[0]
    nested = a_job(
        runner,
        a_process(1, part=ProcessRole.HELPER, rank=None, argv=below.argv, agent=below.agent, parent_pid=7),
        made.processes[1],
        code=0,
        cwd=tmp_path,
    )
    assert fate(nested)[0] is expected


def test_the_same_command_that_ran_again_to_a_good_end_made_it_good_whoever_looked(tmp_path: Path) -> None:
    again = a_process(3, began_s=3.5, at_s=9.0, agent=agent(steps=9))
    other = a_process(3, began_s=3.5, at_s=9.0, agent=agent(steps=9), argv=("python", "train.py", "--small"))
    assert fate(a_driver(tmp_path, "Popen(x)", others=(again,)))[0] is Fate.HANDLED
    assert fate(a_driver(tmp_path, "Popen(x)", others=(other,)))[0] is Fate.DROPPED


def test_another_run_that_stands_under_a_condition_answers_what_no_code_told(tmp_path: Path) -> None:
    other = a_process(3, began_s=3.5, at_s=9.0, agent=agent(steps=9), argv=("python", "train.py", "--small"))
    for source, expected in (
        ("Popen(x)\nif not Path('model.pt').exists():\n    Popen(y)", Fate.HANDLED),
        ("Popen(x)\nif __name__ == '__main__':\n    Popen(y)", Fate.DROPPED),
    ):
        file = f"{tmp_path}/launch.py"
        second = event("child", "pid=3 how=popen reads=1 | python train.py --small", f"{file}:3")
        made = a_driver(tmp_path, source, others=(other,))
        parent = made.processes[0]
        both = replace(parent, agent=agent(*parent.agent.events, second))
        assert fate(a_job(both, *made.processes[1:], code=0, cwd=tmp_path))[0] is expected


def test_a_handler_that_tells_one_failure_from_another_is_an_answer(tmp_path: Path) -> None:
    handler = "except Exception as error:\n    if 'known' not in str(error):\n        raise\n    print('again')"
    source = f"try:\n    run(x)\n{handler}"
    assert fate(a_driver(tmp_path, source, ("raised", 2)))[0] is Fate.HANDLED


@pytest.mark.parametrize(("began_s", "expected"), [(0.5, Fate.HANDLED), (5.0, Fate.DROPPED)])
def test_who_is_told_of_one_rank_is_told_of_those_that_ran_beside_it(
    began_s: float, expected: Fate, tmp_path: Path
) -> None:
    file = f"{tmp_path}/launch.py"
    started = [event("child", f"pid={pid} how=process reads=1 | spawn", f"{file}:2") for pid in (2, 3)]
    looked = event("child-read", "pid=3 how=raised", f"{file}:2")
    parent = a_process(
        1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"), agent=agent(*started, looked), at_s=20.0
    )
    failed = a_process(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),), agent=agent(steps=3))
    other = a_process(3, rank=1, code=1, began_s=began_s, at_s=began_s + 2.0, agent=agent(steps=3))
    source = "try:\n    spawn(train)\nexcept Exception:\n    spawn(smaller)"
    made = a_job(parent, failed, other, code=0, cwd=tmp_path, files={"launch.py": source})
    assert {one.process.pid: one.fate for one in failure_fates(made)}[2] is expected


def raising(tmp_path: Path, source: str, *lines: int, how: str = "raised") -> Fate:
    """Returns the fate of a failure that an exception told, raised through these lines, innermost first."""
    file = f"{tmp_path}/launch.py"
    look = event("child-read", f"pid=2 how={how}", *(f"{file}:{line}" for line in lines))
    parent = a_process(
        1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"),
        agent=agent(event("child", STARTED, f"{file}:{lines[0]}"), look),
    )  # fmt: skip
    failed = a_process(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),), agent=agent(steps=3))
    return failure_fates(a_job(parent, failed, code=0, cwd=tmp_path, files={"launch.py": source}))[0].fate


MAIN = "def main():\n    try:\n        subprocess.run(x, check=True)\n    %s\n"  # main is what hand-made frames run

GUARD = "class Guard:\n    def __exit__(self, *error):\n        %s\n"
YIELDING = "@contextmanager\ndef guard():\n    try:\n        yield\n    except Exception:\n        %s\n"


@pytest.mark.parametrize(
    ("source", "lines", "expected"),
    [
        # Handlers that cannot take it are passed.
        ("try:\n    run(x)\nexcept FileNotFoundError:\n    print('x')", (2,), HANDLED),
        ("try:\n    run(x)\nexcept subprocess.TimeoutExpired:\n    pass", (2,), HANDLED),
        ("with suppress(OSError):\n    run(x)", (2,), HANDLED),
        ("try:\n    run(x)\nexcept (OSError, SubprocessError):\n    print('x')", (2,), DROPPED),
        ("class E(Exception): ...\ntry:\n    run(x)\nexcept E:\n    pass", (3,), HANDLED),
        ("try:\n    run(x)\nexcept lib.Failed:\n    print('x')", (2,), UNKNOWN),
        ("try:\n    run(x)\nexcept lib.Failed:\n    a()\nexcept Exception:\n    pass", (2,), UNKNOWN),
        (MAIN % "except OSError: pass" + "try:\n    main()\nexcept Exception:\n    pass", (3, 6), DROPPED),
        (MAIN % "except OSError: pass" + "try:\n    main()\nexcept Exception:\n    smaller()", (3, 6), HANDLED),
        # What a handler raises in its place is another exception.
        (MAIN % "except Exception: raise ValueError" + "try:\n    main()\nexcept OSError: pass", (3, 6), HANDLED),
        (MAIN % "except Exception: raise ValueError" + "try:\n    main()\nexcept ValueError: pass", (3, 6), DROPPED),
        # What stands around a definition is not around its calls.
        ("try:\n    def main():\n        run(x)\nexcept Exception:\n    pass\nmain()", (3, 6), HANDLED),
        # What follows the call, an `else`, what is passed over, a value that is returned.
        ("try:\n    run(x)\n    done = True\nexcept Exception:\n    pass\nuse(done)", (2,), UNKNOWN),
        ("try:\n    run(x)\n    done = True\nexcept Exception:\n    pass\nprint(done)", (2,), DROPPED),
        ("try:\n    run(x)\n    print('well')\nexcept Exception:\n    pass", (2,), DROPPED),
        ("try:\n    run(x)\nexcept Exception:\n    pass\nelse:\n    sys.exit()\nsmaller()", (2,), UNKNOWN),
        ("with suppress(Exception):\n    run(x)\n    done = True\nuse(done)", (2,), UNKNOWN),
        ("try:\n    out = run(x)\nexcept Exception:\n    pass\nuse(out)", (2,), UNKNOWN),
        ("try:\n    out = run(x)\nexcept Exception:\n    pass", (2,), DROPPED),
        ("for x in y:\n    try:\n        run(x)\n    except Exception:\n        continue\n    break", (3,), UNKNOWN),
        ("for x in y:\n    try:\n        run(x)\n    except Exception:\n        continue", (3,), DROPPED),
        (MAIN % "except Exception: return None\n    return 1" + "code = main()\nuse(code)", (3, 6), HANDLED),
        (MAIN % "except Exception: return None\n    return 1" + "code = main()\nprint(code)", (3, 6), DROPPED),
        ("def f():\n    try:\n        run(x)\n        return\n    except: pass\n    smaller()", (3,), UNKNOWN),
        (MAIN % "except Exception: return None\n    return 1" + "main()", (3, 6), DROPPED),
        (MAIN % "except Exception: pass\n    return 0" + "sys.exit(main())", (3, 6), DROPPED),
        # What is written where others can read it.
        ("try:\n    run(x)\nexcept Exception:\n    failed.write('x')", (2,), HANDLED),
        ("try:\n    run(x)\nexcept Exception:\n    print('x', file=failed)", (2,), HANDLED),
        ("try:\n    run(x)\nexcept Exception:\n    print('x', file=sys.stderr)", (2,), DROPPED),
        # A context manager may take it.
        ("try:\n    with guard():\n        run(x)\nexcept Exception:\n    pass", (3,), UNKNOWN),
        ("try:\n    with open(y) as log:\n        run(x)\nexcept Exception:\n    pass", (3,), DROPPED),
        (GUARD % "return True" + "with Guard('x'):\n    run(x)", (5,), DROPPED),
        (GUARD % "return self.log()" + "with Guard() as guard:\n    run(x)\nprint('done')", (5,), DROPPED),
        (GUARD % "return True" + "with Guard() as guard:\n    run(x)\nsmaller(guard)", (5,), UNKNOWN),
        (GUARD % "return True" + "try:\n    with Guard():\n        run(x)\nexcept Exception:\n    pass", (6,), UNKNOWN),
        (GUARD % "return False" + "with Guard():\n    run(x)", (5,), HANDLED),
        (GUARD % "self.log()" + "try:\n    with Guard():\n        run(x)\nexcept Exception:\n    pass", (6,), DROPPED),
        (YIELDING % "print('x')" + "with guard():\n    run(x)", (8,), DROPPED),
        (YIELDING % "raise" + "with guard():\n    run(x)", (8,), HANDLED),
        ("try:\n    run(x)\nexcept* Exception:\n    pass", (2,), UNKNOWN),
    ],
)  # fmt: skip
def test_an_exception_is_followed_by_its_type_to_who_can_take_it_and_to_what_tells_it_apart(
    source: str, lines: tuple[int, ...], expected: Fate, tmp_path: Path
) -> None:
    assert raising(tmp_path, source, *lines) is expected


def test_what_the_standard_library_took_is_nobodys_lie(tmp_path: Path) -> None:
    source = MAIN % "finally: pass" + "try:\n    main()\nexcept Exception:\n    pass"
    assert raising(tmp_path, source, 3, 6) is Fate.DROPPED
    assert raising(tmp_path, source, 3, 6, how="raised kept=1") is Fate.UNKNOWN
    assert raising(tmp_path, "run(x)", 1, how="unseen") is Fate.UNKNOWN


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("run(x)\nif not os.path.exists('model.pt'):\n    smaller()", Fate.UNKNOWN),
        ("run(x)\nif Path('model.pt').exists():\n    sys.exit()\nsmaller()", Fate.UNKNOWN),
        ("run(x)\ntext = Path('log').read_text()\nuse(text if 'done' in text else None)", Fate.UNKNOWN),
        ("run(x)\ntry:\n    best = json.load(open('best'))\nexcept OSError:\n    best = {}\nuse(best)", Fate.UNKNOWN),
        ("out = run(x, capture_output=True).stdout\nif 'loss' in out:\n    smaller()", Fate.UNKNOWN),
        ("p = Popen(x)\nscore = float(p.communicate()[0])", Fate.UNKNOWN),
        ("run(x)\nif os.path.exists('model.pt'):\n    print('there')", Fate.DROPPED),
        ("if not os.path.exists('data'):\n    load()\nrun(x)", Fate.DROPPED),
        ("p = Popen(x)\nwhile not os.path.exists('model.pt'):\n    time.sleep(1)", Fate.DROPPED),
        ("out = run(x, capture_output=True).stdout\nprint(out)", Fate.DROPPED),
        ("p = Popen(x)\nfor line in p.stdout:\n    sys.stdout.write(line)", Fate.DROPPED),
        ("p = Popen(x)\nfor line in p.stdout:\n    losses.append(float(line))\nuse(losses)", Fate.UNKNOWN),
        ("p = Popen(x)\nfor line in p.stdout:\n    losses.append(float(line))\nprint(min(losses))", Fate.DROPPED),
        ("run(x, stdout=sys.stdout)", Fate.DROPPED),
    ],
)
def test_who_looks_at_what_a_child_leaves_may_see_that_it_failed(source: str, expected: Fate, tmp_path: Path) -> None:
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "(x" in text)
    started = event("child", STARTED, f"{tmp_path}/launch.py:{line}")
    parent = a_process(1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"), agent=agent(started))
    failed = a_process(2, code=1, agent=agent(steps=3))
    assert failure_fates(a_job(parent, failed, code=0, cwd=tmp_path, files={"launch.py": source}))[0].fate is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("q = Queue()\np.start()\np.join()\nif q.empty():\n    smaller()", Fate.UNKNOWN),
        ("q = Queue()\np.start()\ntry:\n    best = q.get(timeout=9)\nexcept Empty:\n    best = None", Fate.UNKNOWN),
        ("port = find()\np.start()\np.join()\nif port == 1:\n    close()", Fate.DROPPED),
    ],
)
def test_who_looks_at_what_is_shared_with_a_process_may_see_that_it_failed(
    source: str, expected: Fate, tmp_path: Path
) -> None:
    started = event("child", "pid=2 how=process reads=1 | work", f"{tmp_path}/launch.py:2")
    parent = a_process(1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"), agent=agent(started))
    failed = a_process(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/launch.py:9"),), agent=agent(steps=3))
    assert failure_fates(a_job(parent, failed, code=0, cwd=tmp_path, files={"launch.py": source}))[0].fate is expected


def scripted(tmp_path: Path, script: str, **end: object) -> Fate:
    """Returns the fate of a training that a script started."""
    shell = a_process(1, part=ProcessRole.SHELL, rank=None, argv=("bash", "-c", script))
    failed = a_process(2, agent=agent(steps=3), argv=("python", "train.py", "--big"), **end)
    return failure_fates(a_job(shell, failed, code=0, cwd=tmp_path))[0].fate


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("python train.py --big; echo done", Fate.DROPPED),
        ("nohup nice -n 5 python train.py --big; echo done", Fate.DROPPED),
        ("python train.py $ARGS; echo done", Fate.DROPPED),
        ("python3 ./train.py --big || true", Fate.DROPPED),
        # No command that this process was: only words of it.
        ("cp train.py --big out; echo done", Fate.UNKNOWN),
        ("echo python train.py --big; echo done", Fate.UNKNOWN),
        ("python train.py --small; echo done", Fate.UNKNOWN),
        ("state=$(python train.py --big) || state=bad; python train.py $ARGS; echo done", Fate.UNKNOWN),
    ],
)
def test_only_a_command_that_became_the_process_tells_its_fate(script: str, expected: Fate, tmp_path: Path) -> None:
    assert scripted(tmp_path, script, code=3) is expected


def test_a_script_that_ends_its_training_knows_of_that_however_the_training_answers(tmp_path: Path) -> None:
    ending = "python train.py --big & t=$!; kill $t; wait; echo done"
    error = (raised("KeyError: 1", f"{tmp_path}/train.py:4"),)
    assert scripted(tmp_path, ending, code=143) is Fate.HANDLED
    assert scripted(tmp_path, ending, code=1, raised=(raised("SignalException: 15"),)) is Fate.HANDLED
    assert scripted(tmp_path, ending, code=1, raised=error) is Fate.DROPPED
    assert scripted(tmp_path, ending, signal=11) is Fate.DROPPED
    unseen = "python train.py --big & ./stop.sh; wait"
    assert (scripted(tmp_path, unseen, signal=15), scripted(tmp_path, unseen, signal=9)) == (Fate.UNKNOWN, Fate.DROPPED)


def test_a_reader_that_had_seen_enough_of_a_pipe_ends_it(tmp_path: Path) -> None:
    broken = (raised("BrokenPipeError: [Errno 32]"),)
    assert scripted(tmp_path, "python train.py --big | head -1", code=1, raised=broken) is Fate.UNKNOWN
    assert scripted(tmp_path, "python train.py --big | head -1", code=1) is Fate.DROPPED
    assert scripted(tmp_path, "python train.py --big | tee log", code=1, raised=broken) is Fate.DROPPED


def test_a_code_of_which_the_system_keeps_nothing_is_dropped(tmp_path: Path) -> None:
    made = a_driver(tmp_path, "code = os.system(x)\nif code:\n    sys.exit(code)", ("returncode", 2))
    parent, *others = made.processes
    assert parent.agent is not None
    for value, found in ((256, (DROPPED, ("launch.py:3",))), (0, (HANDLED, ()))):
        left = event("sys.exit", "", f"{tmp_path}/launch.py:3", value=value)
        told = replace(parent, agent=agent(*parent.agent.events, left), end=replace(parent.end, exit_code=0))
        assert fate(replace(made, processes=(told, *others))) == found
