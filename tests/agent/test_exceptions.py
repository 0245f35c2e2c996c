"""Exceptions in every place where they end: real programs, whole lists of events."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

CAUGHT = ("exception", "thread-exception", "unraisable", "caught")


def told(agent, *kinds):
    """Returns (kind, text, lines innermost first) of the events of these kinds."""
    return [
        (event.kind, event.text, [frame.line for frame in event.path])
        for event in agent.events
        if event.kind in (kinds or CAUGHT)
    ]


def by_start(run):
    """Returns the agents' files in the order in which their processes began; numbers of processes wrap around."""
    return sorted(run.record.agents, key=lambda agent: agent.started_ns)


PLACES = """
    import logging, threading, traceback, os
    logging.basicConfig(handlers=[logging.NullHandler()])
    def fail(text):
        raise ValueError(text)
    def in_thread():
        threading.excepthook = lambda args: None
        thread = threading.Thread(target=fail, args=("in a thread",), daemon=True)
        thread.start(); thread.join()
    class Destroyed:
        def __del__(self): fail("in a destructor")
    in_thread()
    Destroyed()
    try: fail("logged with its traceback")
    except ValueError: logging.exception("oh")
    try: fail("logged as a text")
    except ValueError as error: logging.warning("oh %s", error)
    try: fail("formatted")
    except ValueError: traceback.format_exc()
    logging.warning("nothing is wrong")
    try: fail("first")
    except ValueError as error:
        raise RuntimeError("last") from error
"""


def test_an_exception_is_recorded_wherever_it_ends(watch):
    run = watch(PLACES)
    assert run.returncode == 1
    (agent,) = run.record.agents
    assert told(agent) == [
        ("thread-exception", "ValueError: in a thread", [5]),
        ("unraisable", "ValueError: in a destructor", [5, 11]),
        ("caught", "how=logged | ValueError: logged with its traceback", [5, 14]),
        ("caught", "how=logged | ValueError: logged as a text", [5, 16]),
        ("caught", "how=printed | ValueError: formatted", [5, 18]),
        ("exception", "RuntimeError: last", [23]),
        ("caught", "how=caught | ValueError: first", [5, 21]),
    ]


def test_the_same_program_prints_the_same_under_the_agent(watch):
    bare = watch(PLACES, watched=False)
    watched = watch(PLACES)
    assert "ValueError: in a destructor" in bare.stderr
    assert without_addresses(watched.stderr) == without_addresses(bare.stderr)


def without_addresses(text: str) -> list[str]:
    return [line.partition(" at 0x")[0] for line in text.splitlines()]


SWALLOWED = """
    def fail(): raise OSError("swallowed")
    def passed_on():
        try: fail()
        finally: pass
    try: passed_on()
    except OSError: pass
    try:
        with open("/dev/null"): fail()
    except OSError: pass
    try: {}["absent"]
    except KeyError as error:
        try: raise TypeError("second")
        except TypeError: pass
    list(iter(range(3)))
    passed_on()
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_python_3_12_sees_what_user_code_kept_to_itself(watch, version):
    run = watch(SWALLOWED, python=(python(version),))
    assert run.returncode == 1
    (agent,) = run.record.agents
    assert told(agent) == [
        ("caught", "how=caught | OSError: swallowed", [2, 4, 6]),
        ("caught", "how=caught | OSError: swallowed", [2, 9]),
        ("caught", "how=caught | KeyError: 'absent'", [11]),
        ("caught", "how=caught | TypeError: second", [13]),
        ("exception", "OSError: swallowed", [2, 4, 16]),
    ]


def python(version: str) -> str:
    """Returns an interpreter of this version, from pyenv or on PATH."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for path in [*map(str, found), shutil.which(f"python{version}")]:
        if path and subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip(f"no python{version} on this machine")


def test_a_loop_that_fails_for_ever_leaves_room_for_the_end(watch):
    run = watch(
        """
        import logging
        logging.basicConfig(handlers=[logging.NullHandler()])
        lines = "".join(f"def fail{n}(index): raise ValueError('{n} failed at %d' % index)\\n" for n in range(40))
        exec(compile(lines, __file__, "exec"))
        for index in range(300):
            for n in range(40):
                try: globals()[f"fail{n}"](index)
                except ValueError: logging.exception("again")
        raise RuntimeError("x" * 5000)
        """
    )
    (agent,) = run.record.agents
    caught = [event for event in agent.events if event.kind == "caught"]
    assert len(caught) == 48
    assert [event.text for event in caught[:2]] == [f"how=logged | ValueError: {n} failed at 0" for n in range(2)]
    assert caught[-1].value == 256
    assert caught[-1].path[0].line == 40
    assert agent.dropped_events == 0
    exception = agent.last_event("exception")
    assert (len(exception.text), exception.path[0].line) == (1500, 10)


def test_no_exception_is_kept_alive(watch):
    run = watch(
        """
        import gc, logging, threading, traceback, weakref
        logging.basicConfig(handlers=[logging.NullHandler()])
        gc.disable()
        class Big:
            pass
        kept = []
        class Mine(Exception): pass
        def fail():
            big = Big(); kept.append(weakref.ref(big)); raise Mine()
        try: fail()
        except Mine: logging.exception("x")
        try: fail()
        except Mine: traceback.format_exc()
        threading.excepthook = lambda args: None
        thread = threading.Thread(target=fail); thread.start(); thread.join()
        print([reference() for reference in kept])
        """
    )
    assert (run.stdout, run.stderr) == ("[None, None, None]\n", "")


def test_an_exception_whose_text_fails_is_known_by_its_type(watch):
    run = watch(
        """
        class Odd(Exception):
            def __str__(self): raise TypeError("no text")
        import logging
        logging.basicConfig(handlers=[logging.NullHandler()])
        try: raise Odd()
        except Odd: logging.exception("x")
        raise Odd()
        """
    )
    assert run.returncode == 1
    (agent,) = run.record.agents
    assert told(agent) == [("caught", "how=logged | Odd", [6]), ("exception", "Odd", [8])]


def test_of_a_long_text_that_holds_a_traceback_the_last_line_is_kept(watch):
    run = watch(
        """
        import logging
        logging.basicConfig(handlers=[logging.NullHandler()])
        rows = "\\n".join("  File 'data.py', line %d, in read" % at for at in range(200))
        text = "Caught KeyError in worker 0.\\n%s\\nKeyError: 'label', token=abcdef123456" % rows
        try: raise RuntimeError(text)
        except RuntimeError: logging.exception("x")
        raise RuntimeError(text.replace("\\n", " "))
        """
    )
    assert run.returncode == 1
    (agent,) = run.record.agents
    caught, ended = (text.removeprefix("how=logged | ") for _, text, _ in told(agent))
    first, last = caught.split("\n...\n")
    assert len(caught) <= 500 < len(ended) == 1500
    assert first.startswith("RuntimeError: Caught KeyError in worker 0.\n  File 'data.py', line 0, in read\n")
    assert last.endswith("  File 'data.py', line 199, in read\nKeyError: 'label', token=[redacted]")


def test_locals_are_recorded_on_request_only_and_without_secrets(watch):
    source = """
        def load(path, api_key, options):
            count, url = 3, "https://me:hunter2secret@host/x"
            raise OSError("cannot reach " + url + " with " + api_key)
        load("data.h5", "abcdefghijkl", {"password": "hunter2secret", "tokens": 5})
    """
    env = {"MY_API_KEY": "abcdefghijkl"}
    (silent,) = watch(source, env=env).record.agents
    assert told(silent, "locals") == []
    assert told(silent) == [("exception", "OSError: cannot reach https://[redacted]@host/x with [redacted]", [4, 5])]
    agent = by_start(watch(source, env={**env, "UPS_DOCTOR_LOCALS": "1"}))[-1]
    assert told(agent, "locals")[0][1] == (
        "main.py:4 load | path='data.h5'; api_key=[redacted]; options=dict of 2: password: [redacted], tokens: 5; "
        "count=3; url='https://[redacted]@host/x'"
    )


TORCH = """
    import os, sys
    import h5py, numpy
    import torch
    from torch import multiprocessing as mp
    from torch.utils.data import DataLoader, Dataset

    class Samples(Dataset):
        def __len__(self): return 2
        def __getitem__(self, index): raise IndexError("no such sample")

    def rank(index):
        raise ValueError(f"rank {index}")

    if __name__ == "__main__":
        torch.save({"x": 1}, "good.pt"); torch.load("good.pt")
        open("empty.pt", "w").close()
        for work in (
            lambda: torch.load("empty.pt"),
            lambda: torch.save({}, f="absent/folder.pt"),
            lambda: numpy.load("absent.npy"),
            lambda: h5py.File("empty.pt"),
            lambda: next(iter(DataLoader(Samples(), num_workers=1))),
            lambda: mp.spawn(rank, nprocs=1),
        ):
            try: work()
            except Exception as error: print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def torch_run(tmp_path_factory, watcher):
    return watcher(tmp_path_factory.mktemp("torch"))(TORCH)


def test_files_that_cannot_be_read_or_written_are_named(torch_run):
    assert (torch_run.returncode, torch_run.stdout.split()) == (
        0,
        ["EOFError", "RuntimeError", "FileNotFoundError", "OSError", "IndexError", "ProcessRaisedException"],
    )
    rank = by_start(torch_run)[0]
    failed = told(rank, "load-failed", "save-failed")
    assert [(kind, text.rpartition(" | ")[0], lines) for kind, text, lines in failed] == [
        ("load-failed", "function=torch.load | empty.pt", [19, 26]),
        ("save-failed", "function=torch.save | absent/folder.pt", [20, 26]),
        ("load-failed", "function=numpy.load | absent.npy", [21, 26]),
        ("load-failed", "function=h5py.File | empty.pt", [22, 26]),
    ]
    assert failed[0][1].endswith(" | EOFError: ")


def test_what_torch_catches_in_workers_and_spawned_ranks_is_recorded_there(torch_run):
    first, *others = by_start(torch_run)
    assert [entry for agent in others for entry in told(agent, "caught")] == [
        ("caught", "how=worker | IndexError: no such sample", [10]),
        ("caught", "how=spawn | ValueError: rank 0", [13]),
    ]
    (hooks,) = (event for event in first.events if event.kind == "hooks")
    assert hooks.text.split() == sorted(hooks.text.split())
    assert set(hooks.text.split()) - {"monitoring"} == {
        "contexts", "futures", "logging", "print", "threading", "traceback", "warnings",
    }  # fmt: skip


def test_what_a_group_of_exceptions_holds_is_recorded_behind_it(watch):
    run = watch("""
        def fail(text):
            raise ValueError(text)
        def failed(text):
            try: fail(text)
            except ValueError as error: return error
        def inner():
            try: raise ExceptionGroup("inner", [failed("deep")])
            except ExceptionGroup as group: return group
        raise ExceptionGroup("outer", [inner(), failed("flat")])
    """)
    (agent,) = run.record.agents
    assert told(agent) == [
        ("exception", "ExceptionGroup: outer (2 sub-exceptions)", [10]),
        ("caught", "how=caught | ExceptionGroup: inner (1 sub-exception)", [8]),
        ("caught", "how=caught | ValueError: deep", [3, 5]),
        ("caught", "how=caught | ValueError: flat", [3, 5]),
    ]


def test_what_a_pool_of_threads_keeps_in_a_future_is_recorded(watch):
    run = watch("""
        from concurrent.futures import ThreadPoolExecutor
        def fail(text):
            raise ValueError(text)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(fail, "that nobody looks at")
    """)
    assert run.returncode == 0
    (agent,) = run.record.agents
    assert told(agent) == [
        ("caught", "how=caught | ValueError: that nobody looks at", [4]),
        ("caught", "how=unasked | ValueError: that nobody looks at", [4]),
    ]


@pytest.mark.parametrize("asks", ["future.result", "future.exception"])
def test_what_somebody_asks_a_future_for_is_not_unasked(watch, asks):
    run = watch(f"""
        from concurrent.futures import ThreadPoolExecutor
        def fail(text):
            raise ValueError(text)
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(fail, "that somebody looks at")
        try: {asks}()
        except ValueError: pass
    """)
    (agent,) = run.record.agents
    assert told(agent) == [("caught", "how=caught | ValueError: that somebody looks at", [4])]


PRINTED = """
    import builtins, copy, functools, inspect, pickle, sys, warnings
    import torch
    def fail(text): raise ValueError(text)
    try: fail("with a word")
    except ValueError as error: print("failed:", error)
    try: fail("on stderr")
    except ValueError as error: functools.partial(print, file=sys.stderr)(error)
    try: fail("with a warning")
    except ValueError as error: warnings.warn(f"failed: {error}")
    try: fail("without a word")
    except ValueError: pass
    print("afterwards")
    warnings.warn("nothing is handled")
    def bad(): print("x", sep=5)
    try: bad()
    except TypeError as error: print(error)
    print(repr(print), print.__name__, print.__doc__ is not None, print is builtins.print, copy.copy(print) is print)
    print(pickle.loads(pickle.dumps(print)) is print, inspect.signature(print))
"""


def test_what_user_code_prints_a_word_about_is_recorded_and_printed_as_before(watch_warm):
    run, bare = watch_warm(PRINTED), watch_warm(PRINTED, watched=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, bare.stdout, bare.stderr)
    assert [text for _, text, _ in told(run.record.agents[0])] == [
        "how=printed | ValueError: with a word",
        "how=printed | ValueError: on stderr",
        "how=logged | ValueError: with a warning",
        "how=printed | TypeError: sep must be None or a string, not int",
    ]


COMPILED_PRINTS = """
    import torch
    import torch._dynamo.testing
    def step(x):
        y = x.sin()
        print("in between", tuple(y.shape))
        return y.cos() + 1
    counted = torch._dynamo.testing.CompileCounter()
    print(torch.compile(step, backend=counted)(torch.ones(2)), counted.frame_count, counted.op_count)
    torch._dynamo.config.reorderable_logging_functions.add(print)
    again = torch._dynamo.testing.CompileCounter()
    torch._dynamo.reset()
    print(torch.compile(step, backend=again)(torch.ones(2)), again.frame_count, again.op_count)
"""


def test_a_compiled_function_that_prints_is_cut_as_without_the_agent(watch):
    run, bare = watch(COMPILED_PRINTS), watch(COMPILED_PRINTS, watched=False)
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
    assert bare.stdout.count("in between") == 2


POOLS = """
    import multiprocessing, time
    from multiprocessing.pool import ThreadPool
    def fail(text):
        raise ValueError(text)
    def ask(result):
        try: result.get()
        except ValueError: pass
    with ThreadPool(1) as pool:
        ask(pool.apply_async(fail, ("asked",)))
        kept = [pool.apply_async(fail, ("never asked",)), pool.map_async(fail, ["of a map"])]
        pool.apply_async(fail, ("told to a function",), error_callback=print)
        iterated = pool.imap_unordered(fail, ["iterated"])
        try: next(iterated)
        except ValueError: pass
        for one in kept: one.wait()
        pool.close(); pool.join()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        kept.append(pool.apply_async(fail, ("in a process",))); kept[-1].wait()
"""


def test_what_a_pool_keeps_and_nobody_gets_is_unasked(watch):
    run = watch(POOLS)
    assert (run.returncode, run.stdout) == (0, "told to a function\n"), run.stderr
    parent, child = by_start(run)
    assert [text for _, text, _ in told(parent) if "unasked" in text] == [
        "how=unasked | ValueError: never asked",
        "how=unasked | ValueError: of a map",
        "how=unasked | ValueError: in a process",
    ]
    assert told(child) == [("caught", "how=worker | ValueError: in a process", [5])]


def test_what_somebody_waits_for_before_it_fails_is_not_unasked(watch):
    run = watch("""
        import threading
        from concurrent.futures import ThreadPoolExecutor
        begun = threading.Event()
        class Waits(threading.Thread):
            def run(self):
                begun.set()
                try: future.result()
                except ValueError: pass
        def fail(text):
            begun.wait()
            while not future._condition._waiters: pass
            raise ValueError(text)
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(fail, "that somebody waits for")
            Waits().start()
    """)
    assert run.returncode == 0
    (agent,) = run.record.agents
    assert [text for kind, text, _ in told(agent) if "unasked" in text] == []


HELD = """
    import os, torch, torch.distributed as dist
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=0, world_size=1)
    class Run:
        def __enter__(self): return self
        def __exit__(self, *error):
            dist.barrier()
            dist.barrier()
            return True
    def fail(text):
        raise ValueError(text)
    with Run():
        fail("in a with")
    try:
        try: fail("in a try")
        finally: dist.barrier()
    except ValueError: pass
    try: fail("answered before")
    except ValueError: pass
    dist.barrier()
    dist.destroy_process_group()
"""


def test_an_exception_under_which_a_collective_is_called_is_recorded_once(watch_warm):
    run = watch_warm(HELD)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert told(agent, "caught") == [
        ("caught", "how=held | ValueError: in a with", [11, 13]),
        ("caught", "how=held | ValueError: in a try", [11, 15]),
    ]


FORWARD = """
    import torch
    from torch.utils.checkpoint import checkpoint
    class Picky(torch.nn.Module):
        def forward(self, x):
            if x.sum() > 3:
                raise ValueError("too much")
            return x * x
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.picky = Picky()
        def forward(self, x):
            return checkpoint(self.picky, x, use_reentrant=False)
    net = Net()
    net(torch.ones(2, requires_grad=True)).sum().backward()
    try: net(torch.ones(4))
    except ValueError: pass
    net(torch.full((4,), 2.0))
"""


def test_what_came_out_of_a_model_is_recorded_where_somebody_caught_it(watch_warm):
    run = watch_warm(FORWARD)
    assert run.returncode == 1
    (agent,) = run.record.agents
    assert told(agent) == [
        ("caught", "how=forward | ValueError: too much", [7, 14, 17]),
        ("exception", "ValueError: too much", [7, 14, 19]),
    ]


OUT_OF_TORCH = """
    import torch
    from torch.utils.data import DataLoader
    class Rows(torch.utils.data.Dataset):
        def __len__(self): return 4
        def __getitem__(self, index): return {0: torch.ones(2)}[index]
    def read():
        for row in DataLoader(Rows()): pass
    def back(): torch.ones(2).sum().backward()
    for what in (read, back):
        try: what()
        except Exception: pass
    for row in DataLoader([1, 2]): pass
    back()
"""


def test_what_came_out_of_a_loader_and_a_backward_pass_is_recorded_where_somebody_caught_it(watch_warm):
    run = watch_warm(OUT_OF_TORCH)
    assert run.returncode == 1
    no_graph = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    assert told(run.record.agents[0]) == [
        ("caught", "how=forward | KeyError: 1", [6, 8, 11]),
        ("caught", f"how=forward | {no_graph}", [9, 11]),
        ("exception", no_graph, [9, 14]),
    ]


CONTEXTS = """
    import contextlib
    def fail(text): raise ValueError(text)
    @contextlib.contextmanager
    def guarded(catching):
        try: yield
        except catching: pass
    with contextlib.suppress(ValueError): fail("suppressed")
    with guarded(ValueError): fail("in a generator")
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(ValueError)); fail("in a stack")
    with contextlib.ExitStack() as stack:
        stack.push(lambda kind, error, traceback: True); fail("for a function")
    with contextlib.suppress(KeyError), guarded(KeyError): pass
    try:
        with contextlib.suppress(KeyError), guarded(KeyError), contextlib.ExitStack(): fail("passed on")
    except ValueError: print(contextlib.suppress.__exit__.__qualname__, *contextlib.suppress.__mro__)
"""


def test_what_the_exit_of_a_with_keeps_to_itself_is_recorded(watch):
    run = watch(CONTEXTS, python=(python("3.11"),))
    assert (run.stdout, run.stderr) == ((bare := watch(CONTEXTS, watched=False)).stdout, bare.stderr)
    assert told(run.record.agents[0]) == [
        ("caught", "how=caught | ValueError: suppressed", [3, 8]),
        ("caught", "how=caught | ValueError: in a generator", [3, 9, 6]),
        ("caught", "how=caught | ValueError: in a stack", [3, 11]),
        ("caught", "how=caught | ValueError: for a function", [3, 13]),
    ]


COMPILED_CONTEXTS = """
    import contextlib
    import torch
    @contextlib.contextmanager
    def quietly():
        yield
    def step(x):
        with quietly(), contextlib.ExitStack():
            return x.sin() + 1
    counted = torch._dynamo.testing.CompileCounter()
    try: print(torch.compile(step, backend=counted, fullgraph=True)(torch.ones(2)), counted.frame_count)
    except Exception as error: print(type(error).__name__, str(error).splitlines()[0])
"""


def test_a_compiled_function_takes_contexts_as_without_the_agent(watch):
    source = "\nimport torch._dynamo.testing" + textwrap.dedent(COMPILED_CONTEXTS)
    bare = watch(source, watched=False)
    assert watch(source).stdout == bare.stdout
    assert bare.stdout.endswith(" 1\n")
