"""What a Python says of its torch: versions, backends, GPUs. Beside host.py, in whose process it runs.

CUDA is asked in a fork: a process that has started it can fork no ranks that use it.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
import traceback

from forked import die_with, leave_with, parse

GPU_FACTS_DEADLINE_S = 20.0
# Read while torch's compiler is imported: no pool of its workers is begun here, which no rank could use.
COMPILES_ITSELF = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}


def hello():
    """Returns what `import torch` gave, or its error."""
    about = {"python": sys.version.split()[0], "executable": sys.executable}
    started = time.monotonic()
    try:
        import torch
        import torch.distributed as dist
    except BaseException as error:  # whatever stops the import is the answer
        about.update(error="%s: %s" % (type(error).__name__, error), detail=traceback.format_exc())
        return about
    about.update(
        import_seconds=time.monotonic() - started,
        torch=str(torch.__version__),
        torch_file=str(torch.__file__),
        cuda=torch.version.cuda,
        gloo_available=dist.is_available() and dist.is_gloo_available(),
        nccl_available=dist.is_available() and dist.is_nccl_available(),
        device_count=0,
        nccl=None,
    )
    if torch.version.cuda or getattr(torch.version, "hip", None):
        about.update(ask_a_fork(gpu_facts))
    return about


@contextlib.contextmanager
def for_forks():
    """Around an import: nothing of it is garbage, and to look for some takes a fifth of its time.

    Each fork that looked at all of it would copy the pages it lies on.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def import_late(names, about):
    """Imports what a first optimizer or wrap would, once for all ranks; returns which of it is there now.

    Not where there are GPUs, as `about` says: what is imported might start CUDA. Where it fails, each rank says so.
    """
    if about.get("device_count") != 0:
        return []
    with for_forks(), ranks_compile_themselves():
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:
                traceback.print_exc()
    return [name for name in names if name in sys.modules]


@contextlib.contextmanager
def ranks_compile_themselves():
    """Around an import: what the user set stays as it is, and the environment is as before afterwards."""
    added = {name: value for name, value in COMPILES_ITSELF.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def gpu_facts():
    """Returns GPU count and NCCL version; runs in a fork, since counting may initialise CUDA."""
    import torch

    facts = {"device_count": torch.cuda.device_count()}
    if torch.distributed.is_nccl_available():
        facts["nccl"] = ".".join(str(part) for part in torch.cuda.nccl.version())
    return facts


def ask_a_fork(question):
    """Returns the dict that `question()` gives in a fork of its own, {} where it gives none in time."""
    reader, writer = os.pipe()
    host_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        leave_with(lambda: (die_with(host_pid), os.write(writer, json.dumps(question()).encode())))
    os.close(writer)
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    answer = os.read(reader, 65536) if poll.poll(GPU_FACTS_DEADLINE_S * 1000) else b""
    os.close(reader)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return parse(answer)
