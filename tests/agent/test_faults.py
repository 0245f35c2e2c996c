"""A crash in a shared library, in a thread that is not the main one, however the process was started."""

from __future__ import annotations

import pytest

CRASHES = """
    import concurrent.futures, ctypes, multiprocessing, subprocess, sys, threading, time
    def native():
        ctypes.CDLL(None).strlen(None)
    def background():
        native()
    def work():
        thread = threading.Thread(target=background, daemon=True); thread.start()
        time.sleep(60)
    def in_pool():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(background).result()
    if __name__ == "__main__":
        if sys.argv[1:]: work()
        children = []
        for way in ("fork", "spawn", "forkserver"):
            for target in (work, in_pool):
                process = multiprocessing.get_context(way).Process(target=target)
                process.start(); process.join()
                print(way, target.__name__, process.pid, process.exitcode)
        popen = subprocess.Popen([sys.executable, "main.py", "again"]); print("popen", "work", popen.pid, popen.wait())
"""
WAYS = [
    *((way, target) for way in ("fork", "spawn", "forkserver") for target in ("work", "in_pool")),
    ("popen", "work"),
]


@pytest.fixture(scope="module")
def crashes(tmp_path_factory, watcher):
    run = watcher(tmp_path_factory.mktemp("crashes"))(CRASHES)
    assert (run.returncode, run.stderr) == (0, "")
    lines = (line.split() for line in run.stdout.splitlines())
    return run.record, {(way, target): (int(pid), int(code)) for way, target, pid, code in lines}


@pytest.mark.parametrize(("way", "target"), WAYS)
def test_the_stack_of_the_thread_that_crashed_is_found(crashes, way, target):
    record, ends = crashes
    pid, code = ends[way, target]
    fault = record.fault_of(record.of_pid(pid))
    assert (code, fault.error) == (-11, "Segmentation fault")
    assert [(frame.line, frame.function) for frame in fault.crashed.frames[:2]] == [(4, "native"), (6, "background")]


@pytest.mark.parametrize("limit", [None, 64], ids=["default", "ulimit -n 64"])
def test_a_crash_writes_nothing_into_the_files_of_a_job_that_closed_every_descriptor(watch, limit):
    run = watch(
        f"""
        import ctypes, os, resource, sys
        limit = {limit}
        if limit and resource.getrlimit(resource.RLIMIT_NOFILE)[0] != limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            os.execv(sys.executable, [sys.executable, "main.py"])
        os.closerange(3, 4096)
        mine = [open(f"mine{{i}}", "w") for i in range(4)]
        try: int("x")
        except ValueError:
            import logging
            logging.exception("x")
        ctypes.CDLL(None).strlen(None)
        """
    )
    assert run.returncode == -11
    agent = run.record.agents[-1]
    assert [(event.kind, event.path[0].line) for event in agent.events] == [("caught", 9)]
    assert [(run.script.parent / f"mine{i}").read_text() for i in range(4)] == [""] * 4
