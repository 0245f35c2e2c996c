"""A job under the agent does what it would have done: same numbers, same graphs, same output, no new death."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.record.record import RunRecord, agent_environment

TRAINING = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(5):
        loss = model(torch.randn(4, 6, 16)).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        print(loss.item().hex(), sum(p.grad.double().sum() for p in model.parameters()).item().hex())
"""


def test_losses_and_gradients_are_the_same_bit_for_bit(watch, watch_warm):
    bare = watch_warm(TRAINING, watched=False)
    watched = watch(TRAINING, deep=True)
    assert (watched.returncode, watched.stdout, watched.stderr) == (0, bare.stdout, "")
    (agent,) = watched.record.agents
    assert agent.entered[-1].backward
    assert agent.entered[-1].module.path == "self_attn"
    assert [event.kind for event in agent.events] == ["hooks", "optimizer-begin", "optimizer", "exit"]


COMPILERS = """
    import io, sys, warnings
    import torch
    from torch import fx, nn
    from torch._dynamo.testing import CompileCounter
    from torch.nn.parallel import DistributedDataParallel

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)])
        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    x, model = torch.ones(2, 4), Net()
    eager = model(x)
    counter = CompileCounter()
    compiled = torch.compile(model, backend=counter, fullgraph=True)
    same = [torch.equal(compiled(x), eager) for _ in range(2)]
    print("compile", *same, counter.frame_count, counter.op_count)
    print("fx", [node.op for node in fx.symbolic_trace(model).graph.nodes])
    exported = torch.export.export(model, (x,))
    print("export", torch.equal(exported.module()(x), eager), len(list(exported.graph.nodes)))
    warnings.simplefilter("ignore")
    scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    print("script", scripted(x).shape)
    print("trace", torch.equal(torch.jit.trace(model, x)(x), eager))
    buffer = io.BytesIO()
    torch.save(model, buffer); buffer.seek(0)
    again = torch.load(buffer, weights_only=False)
    print("pickle", torch.equal(again(x), eager), sorted(vars(again)) == sorted(vars(model)))
    print("names", list(model.state_dict()), sorted(set(vars(model)) ^ set(vars(Net()))))
"""


def test_compile_fx_export_script_trace_and_pickle_work_as_before(watch, watch_warm):
    bare = watch_warm(COMPILERS, watched=False)
    watched = watch(COMPILERS)
    assert (watched.returncode, watched.stdout, watched.stderr) == (0, bare.stdout, bare.stderr)
    assert "compile True True 1 3\n" in bare.stdout


def test_an_exception_travels_through_open_modules_unchanged(watch):
    run = watch(
        """
        import torch
        from torch import nn
        class Bad(nn.Module):
            def forward(self, x): raise KeyError("lead_time")
        model = nn.Sequential(nn.Linear(2, 2), Bad())
        for _ in range(2):
            try: model(torch.ones(1, 2))
            except KeyError as error: print(repr(error), error.__cause__, error.__context__)
        model[0](torch.ones(1, 2))
        print(*(hook in str(type(model.__call__)) for hook in ("method",)))
        """
    )
    assert run.stdout == "KeyError('lead_time') None None\n" * 2 + "True\n", run.stderr
    (agent,) = run.record.agents
    (stack,) = agent.open_modules
    assert (stack.depth, stack.left_by_exception.path) == (0, "1")


def test_the_jobs_own_excepthook_and_faulthandler_win(watch):
    run = watch(
        """
        import ctypes, faulthandler, sys
        print(sys.excepthook is sys.__excepthook__)
        def hook(kind, value, traceback): print("mine:", value, flush=True); faulthandler.enable(); ctypes.string_at(0)
        sys.excepthook = hook
        raise ValueError("seven")
        """
    )
    assert (run.returncode, run.stdout) == (-11, "True\nmine: seven\n")
    assert "Segmentation fault" in run.stderr
    assert run.record.faults == {}


def test_an_exception_is_recorded_though_the_job_replaced_the_excepthook(watch):
    run = watch("import sys\nsys.excepthook = lambda *_: None\nraise ValueError('seven')")
    (agent,) = run.record.agents
    assert [(event.kind, event.text) for event in agent.events] == [("exception", "ValueError: seven"), ("exit", "")]
    assert agent.events[0].path[0].line == 3


@pytest.mark.parametrize("leave", ["sys.exit(3)", "os._exit(3)"])
def test_the_line_that_left_is_recorded(watch, leave):
    run = watch(f"import os, sys\ndef main():\n    {leave}\nmain()")
    assert run.returncode == 3
    (agent,) = run.record.agents
    event = agent.last_event("sys.exit", "posix._exit", "os._exit")
    assert (event.value, [(frame.line, frame.function) for frame in event.path]) == (3, [(3, "main"), (4, "<module>")])


def test_a_job_that_closes_every_descriptor_and_forks_reuses_none_of_ours(watch, tmp_path):
    run = watch(
        """
        import os, sys
        os.closerange(3, 1000)
        files = [open(f"mine{i}", "w") for i in range(4)]
        pid = os.fork()
        if not pid:
            for file in files: file.write("child")
            sys.exit(0)
        os.waitpid(pid, 0)
        for file in files: file.write("parent"); file.close()
        """
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert [(tmp_path / f"mine{i}").read_text() for i in range(4)] == ["childparent"] * 4
    assert len(run.record.agents) == 2


def test_events_beyond_the_room_are_counted_and_the_end_is_still_recorded(watch):
    run = watch(
        """
        import sys
        agent = sys.modules["_ups_doctor_agent"]
        for index in range(1000): agent.mark(f"epoch {index}")
        for index in range(3000): agent.mark("x" * 100 + str(index))
        sys.exit(4)
        """
    )
    assert run.returncode == 4
    (agent,) = run.record.agents
    assert agent.dropped_events == 4000 - 320
    assert [event.text for event in agent.events[:2]] == ["epoch 0", "epoch 1"]
    assert [event.kind for event in agent.events[-2:]] == ["sys.exit", "exit"]


def _on_small_tmpfs(folder: Path, size: str, command: str) -> subprocess.CompletedProcess[str]:
    """Runs `command` in a mount namespace where `folder` is a tmpfs of `size`; $PYTHON starts under the agent."""
    env = {**os.environ, **agent_environment(folder, pythonpath=""), "PYTHON": sys.executable, "OMP_NUM_THREADS": "1"}
    script = f"mount -t tmpfs -o size={size} none {folder} && {command}"
    if not shutil.which("unshare") or os.geteuid() != 0:
        pytest.skip("needs root and unshare to mount a small tmpfs")
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", script], env=env, capture_output=True, text=True, timeout=600, check=False
    )


def test_a_full_disk_is_no_bus_error_for_the_job(tmp_path):
    program = "import torch; print(torch.nn.Linear(2, 2)(torch.ones(1, 2)).shape)"
    run = _on_small_tmpfs(tmp_path, "64k", f"$PYTHON -c '{program}'; echo $?; ls {tmp_path}")
    if "mount:" in run.stderr:
        pytest.skip(f"mount is not permitted: {run.stderr.strip()}")
    *said, left = run.stdout.splitlines()
    assert said == ["torch.Size([1, 2])", "0"]
    assert left.endswith(".ENOSPC")


def test_a_disk_with_room_for_the_base_alone_loses_only_the_modules(tmp_path):
    program = "import torch; print(torch.nn.Linear(2, 2)(torch.ones(1, 2)).shape)"
    keep = tmp_path / "keep"
    mount = tmp_path / "mount"
    keep.mkdir()
    mount.mkdir()
    run = _on_small_tmpfs(mount, "256k", f"$PYTHON -c '{program}'; cp {mount}/* {keep}")
    if "mount:" in run.stderr:
        pytest.skip(f"mount is not permitted: {run.stderr.strip()}")
    assert run.stdout == "torch.Size([1, 2])\n"
    (agent,) = RunRecord.load(keep).agents
    assert [event.kind for event in agent.events] == ["hooks", "no-modules-area", "exit"]
    assert (agent.entered, agent.constructions) == ((), ())
