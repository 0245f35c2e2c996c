"""Who looked at how a failed child ended, as the agent records it; and that nothing is changed by it."""

from __future__ import annotations

import pytest

PROGRAM = """\
import asyncio, multiprocessing, os, pickle, subprocess, sys

FAILS = [sys.executable, "-S", "-c", "raise SystemExit(7)"]
WORKS = [sys.executable, "-S", "-c", "pass"]


def leave():
    sys.exit(7)


async def wait_for_it():
    process = await asyncio.create_subprocess_exec(*FAILS)
    code = await process.wait()
    return process.returncode


def main():
    assert subprocess.run(FAILS).returncode == 7  # 18
    subprocess.run(FAILS)
    subprocess.call(FAILS)  # 20
    try:
        subprocess.check_call(FAILS)  # 22
    except subprocess.CalledProcessError:
        pass
    child = subprocess.Popen(FAILS)
    child.wait()  # 26
    assert child.returncode == 7  # 27
    os.system("exit 7")  # 28
    os.waitpid(os.posix_spawn(sys.executable, FAILS, os.environ), 0)  # 29
    worker = multiprocessing.get_context("fork").Process(target=leave)
    worker.start()
    worker.join()
    assert worker.exitcode == 7  # 33
    assert asyncio.run(wait_for_it()) == 7
    fine = subprocess.Popen(WORKS)
    assert (fine.wait(), fine.returncode) == (0, 0)
    assert not hasattr(subprocess.Popen, "returncode")
    assert not hasattr(subprocess.CompletedProcess, "returncode")
    done = subprocess.CompletedProcess(["x"], 3, b"out")
    assert vars(done) == {"args": ["x"], "returncode": 3, "stdout": b"out", "stderr": None}
    assert vars(pickle.loads(pickle.dumps(done))) == vars(done)
    del done.returncode
    assert "returncode" not in vars(done)
    try:
        done.returncode
    except AttributeError as error:
        print(error)


if __name__ == "__main__":
    main()
"""


def test_each_look_at_a_failed_child_is_told_with_its_line(watch) -> None:
    run = watch(PROGRAM)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "'CompletedProcess' object has no attribute 'returncode'\n"
    parent = next(agent for agent in run.record.agents if agent.argv[1:] == ("main.py",) and not agent.forked_from)
    reads = [event for event in parent.events if event.kind == "child-read"]
    assert [(event.text.partition(" ")[2], event.path[0].line) for event in reads] == [
        ("how=returncode", 18),
        ("how=call", 20),
        ("how=raised", 22),
        ("how=wait", 26),
        ("how=returncode", 27),
        ("how=system", 28),
        ("how=waitpid", 29),
        ("how=exitcode", 33),
        ("how=wait", 13),
        ("how=returncode", 14),
    ]
    started = {event.text.partition(" ")[0] for event in parent.events if event.kind == "child"}
    assert {event.text.partition(" ")[0] for event in reads} <= started | {reads[6].text.partition(" ")[0]}


@pytest.mark.parametrize("watched", [True, False])
def test_a_program_that_reads_codes_is_the_same_without_the_agent(watch, watched: bool) -> None:
    run = watch(PROGRAM, watched=watched)
    assert (run.returncode, run.stdout) == (0, "'CompletedProcess' object has no attribute 'returncode'\n")


def test_children_of_tests_and_pools_are_told_as_such(watch) -> None:
    run = watch(
        """\
        import subprocess, sys, unittest
        from concurrent.futures import ProcessPoolExecutor

        class Suite(unittest.TestCase):
            def test_it(self):
                subprocess.run([sys.executable, "-S", "-c", "pass"])

        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as pool:
                assert pool.submit(abs, -1).result() == 1
            subprocess.run([sys.executable, "-S", "-c", "pass"])
            unittest.main()
        """
    )
    assert run.returncode == 0, run.stderr
    parent = next(agent for agent in run.record.agents if not agent.forked_from)
    told = [event.text.partition(" | ")[0].partition(" ")[2] for event in parent.events if event.kind == "child"]
    assert told == ["how=process reads=1 pool=1", "how=popen reads=1", "how=popen reads=1 test=unittest"]


def test_what_goes_through_the_standard_library_is_told_to_be_read_by_somebody(watch) -> None:
    run = watch(
        """\
        import asyncio, contextlib, inspect, os, subprocess, sys
        from concurrent.futures import ThreadPoolExecutor

        FAILS = [sys.executable, "-S", "-c", "raise SystemExit(7)"]

        async def loop():
            process = await asyncio.create_subprocess_exec(*FAILS)
            await asyncio.wait_for(process.wait(), 60)  # 8
            await asyncio.gather(check(), return_exceptions=True)

        async def check():
            subprocess.check_call(FAILS)  # 12

        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(subprocess.call, FAILS).result() == 7
            assert isinstance(pool.submit(subprocess.check_call, FAILS).exception(), subprocess.CalledProcessError)
            assert pool.submit(os.system, "exit 7").result()
        asyncio.run(loop())  # 18
        assert os.spawnv(os.P_WAIT, sys.executable, FAILS) == 7  # 19
        with contextlib.ExitStack() as stack:
            stack.callback(subprocess.Popen(FAILS).wait)  # 20 leaves here
        repr(subprocess.run(FAILS))  # 22
        assert inspect.iscoroutinefunction(asyncio.subprocess.Process.wait)
        """
    )
    assert (run.returncode, run.stderr) == (0, "")
    parent = next(agent for agent in run.record.agents if agent.argv[1:] == ("main.py",) and not agent.forked_from)
    reads = [event for event in parent.events if event.kind == "child-read"]
    assert [(event.text.partition(" ")[2], event.path[0].line if event.path else 0) for event in reads] == [
        ("how=unseen", 0),
        ("how=raised", 0),
        ("how=unseen", 0),
        ("how=unseen", 18),
        ("how=raised kept=1", 12),
        ("how=spawnv", 19),
        ("how=unseen", 20),
        ("how=returncode", 22),
    ]


def test_good_waits_use_up_no_room_for_a_bad_one(watch) -> None:
    run = watch(
        """\
        import asyncio, sys

        async def main():
            for code in [0] * 50 + [7]:
                process = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", f"raise SystemExit({code})")
                await process.wait()  # 6

        asyncio.run(main())
        """
    )
    parent = next(agent for agent in run.record.agents if agent.argv[1:] == ("main.py",))
    reads = [event for event in parent.events if event.kind == "child-read"]
    assert [(event.text.partition(" ")[2], event.path[0].line) for event in reads] == [("how=wait", 6)]
