"""Which library function, line or system call means which kind of waiting: three tables. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.stall.blocking_lines import calls_at
from diagnostics.static.program.source_file import SourceFile


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitPattern:
    """One kind of waiting: the name of a Kind, and the words that follow the process's name."""

    kind: str
    text: str
    names_file: bool = False  # the file behind the system call belongs to the sentence
    proof: bool = False


def _word(kind: str, text: str, *, names_file: bool = False, proof: bool = False) -> WaitPattern:
    return WaitPattern(kind=kind, text=text, names_file=names_file, proof=proof)


_TERMINAL = _word("terminal", "reads standard input, where nothing comes", proof=True)
_WORKER = _word("data-worker", "waits for a worker of its DataLoader")
_CHILD = _word("child", "waits for a process that it started")
_FILE_LOCK = _word("file-lock", "waits for a lock on a file", names_file=True)
_LOCK = _word("lock", "waits for a lock that another holder does not release")
_NETWORK = _word("network", "waits for an answer from the network")
_MESSAGE = _word("pipe", "waits for a message from another process")

# Library frames, by file and function, innermost first; the first that fits wins. What passes a wait on (a queue waits
# on a condition) stands before what it waits on.
_FRAMES: tuple[tuple[re.Pattern[str], re.Pattern[str], WaitPattern], ...] = tuple(
    (re.compile(file), re.compile(function), word)
    for file, function, word in (
        (r"/(?:pdb|bdb|cmd)\.py$|/IPython/|/ipdb/|/debugpy/|/pudb/", r"", _word(
            "debugger", "is at the prompt of a debugger", proof=True)),
        (r"/multiprocessing/queues\.py$", r"_finalize_join$|join_thread$", _word(
            "unread", "waits at its end until what it put into a queue is read")),
        (r"/torch/utils/data/dataloader\.py$", r"_try_get_data|_get_data|_next_data|_shutdown_workers", _WORKER),
        (r"/filelock/|/portalocker/|/fasteners/|/oslo_concurrency/", r"", _FILE_LOCK),
        (r"/torch/utils/file_baton\.py$", r"wait", _word(
            "file-lock", "waits for the lock file of a build of torch's extensions to go away; a build that was "
            "killed leaves it behind")),
        (r"/subprocess\.py$", r"(?:^|\.)(?:_?wait|_?communicate|run|call|check_call|check_output|__exit__)$", _CHILD),
        (r"/multiprocessing/(?:process|popen_\w+|pool|forkserver)\.py$|/concurrent/futures/process\.py$", r"", _CHILD),
        (r"/torch/multiprocessing/spawn\.py$|/joblib/|/loky/", r"", _CHILD),
        (r"/concurrent/futures/", r"", _word("thread", "waits for the result of a pool's task")),
        (r"/multiprocessing/queues\.py$", r"\.?put$", _word("queue", "waits for room in a queue between processes")),
        (r"/multiprocessing/queues\.py$", r"", _word("queue", "waits for an item of a queue between processes")),
        (r"/multiprocessing/managers\.py$", r"", _MESSAGE),
        (r"/multiprocessing/synchronize\.py$", r"", _word(
            "lock", "waits for a lock, event or barrier shared between processes")),
        (r"/multiprocessing/connection\.py$", r"", _MESSAGE),
        (r"/queue\.py$", r"\.?put$", _word("queue", "waits for room in a full queue")),
        (r"/queue\.py$", r"\.?join$", _word("queue", "waits until all items of a queue are done")),
        (r"/queue\.py$", r"", _word("queue", "waits for an item of a queue")),
        (r"/threading\.py$", r"Thread\.(?:join|_wait_for_tstate_lock)|^(?:join|_wait_for_tstate_lock)$", _word(
            "thread", "waits for a thread to end")),
        (r"/threading\.py$", r"Barrier", _word("event", "waits for other threads at a threading.Barrier")),
        (r"/threading\.py$", r"Event\.wait", _word("event", "waits for an event that nobody sets")),
        (r"/threading\.py$", r"Semaphore", _word("lock", "waits for a semaphore that nobody releases")),
        (r"/threading\.py$", r"RLock|acquire|__enter__", _LOCK),
        (r"/threading\.py$", r"wait", _word("event", "waits for a condition that nobody notifies")),
        (r"^<frozen importlib\._bootstrap>$", r"_ModuleLock|_lock_unlock_module|__enter__|acquire", _word(
            "import", "waits for another thread to finish an import")),
        (r"/(?:getpass|cmd|code)\.py$", r"", _TERMINAL),
        (r"/(?:socket|ssl)\.py$", r"create_connection|connect|do_handshake", _word(
            "network", "waits for a network connection to be made")),
        (r"/(?:ssl|socket)\.py$|/http/client\.py$|/urllib/request\.py$|/ftplib\.py$", r"", _NETWORK),
        (r"/(?:urllib3|requests|httpx|httpcore|aiohttp|botocore|boto3|paramiko|redis|pymongo|psycopg2?)/", r"",
         _NETWORK),
        (r"/(?:huggingface_hub|wandb|mlflow|s3fs|gcsfs|fsspec)/", r"", _NETWORK),
        (r"/asyncio/queues\.py$", r"put$", _word("queue", "waits for room in an asyncio queue")),
        (r"/asyncio/queues\.py$", r"join$", _word("queue", "waits until all items of an asyncio queue are done")),
        (r"/asyncio/queues\.py$", r"", _word("queue", "waits for an item of an asyncio queue")),
        (r"/asyncio/locks\.py$", r"Event\.", _word("event", "waits for an asyncio event that nobody sets")),
        (r"/asyncio/locks\.py$", r"Condition\.", _word("event", "waits for an asyncio condition that nobody notifies")),
        (r"/asyncio/locks\.py$", r"", _word("lock", "waits for an asyncio lock that its holder does not release")),
        (r"/asyncio/subprocess\.py$", r"", _CHILD),
        (r"/asyncio/streams\.py$", r"", _NETWORK),
        (r"/asyncio/tasks\.py$", r"sleep$", _word("sleep", "sleeps")),
        (r"/asyncio/", r"", _word("event", "waits in an event loop (asyncio)")),
        (r"/selectors\.py$", r"select", _word("pipe", "waits for something to be readable or writable")),
        (r"/signal\.py$", r"", _word("event", "waits for a signal")),
    )
)  # fmt: skip

_SOURCE: tuple[tuple[re.Pattern[str], WaitPattern], ...] = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"^(?:input|raw_input|getpass\.getpass|getpass|click\.(?:prompt|confirm|getchar|pause)|Prompt\.ask"
         r"|(?:sys\.)?stdin\.(?:read|readline|readlines|buffer\.read\w*))$", _TERMINAL),
        (r"(?:^|\.)(?:breakpoint|set_trace|post_mortem|embed)$", _word(
            "debugger", "is at the prompt of a debugger", proof=True)),
        (r"(?:^|\.)(?:flock|lockf)$", _FILE_LOCK),
        (r"(?:^|\.)(?:waitpid|waitid|os\.wait|os\.system|check_call|check_output|communicate|spawn\w*|popen)$", _CHILD),
        (r"(?:^|\.)sleep$", _word("sleep", "sleeps")),
        (r"(?:^|\.)(?:sigwait\w*|signal\.pause|pause)$", _word("event", "waits for a signal")),
        (r"(?:^|\.)acquire$|^with .*(?:lock|mutex|sem|guard)\w*$|^with .*LOCK\w*$", _LOCK),
        (r"(?:^|\.)(?:recv|recv_into|recvfrom|accept|connect|connect_ex|sendall|urlopen|urlretrieve|getresponse)$",
         _NETWORK),
        (r"(?:^|\.)(?:select|poll)$", _word("pipe", "waits for something to be readable or writable")),
    )
)  # fmt: skip


def by_frames(frames: Sequence[Frame]) -> WaitPattern | None:
    """Returns what library frames below the job's own line wait for; the outermost kind of waiting that is known."""
    for file, function, word in _FRAMES:
        if any(file.search(frame.file) and function.search(frame.function) for frame in frames):
            return word
    return None


def by_source(source: SourceFile, line: int) -> WaitPattern | None:
    """Returns what a line waits for, by the names of what it calls: C code leaves no frame."""
    calls = calls_at(source, line)
    for pattern, word in _SOURCE:
        if any(pattern.search(call) for call in calls):
            return word
    return None


def by_call(call: str, file: str, argument: int | None) -> WaitPattern | None:
    """Returns what a system call waits for; `file` is what lies behind its descriptor."""
    if call in ("wait4", "waitid"):
        return _CHILD
    if call == "flock":
        return _FILE_LOCK
    if call in ("read", "readv", "pread64") and argument == 0:
        return _TERMINAL
    if call in ("connect", "accept", "accept4", "recvfrom", "recvmsg", "sendto", "sendmsg") or file.startswith(
        "socket:"
    ):
        return _NETWORK
    if file.startswith("pipe:"):
        return _word("pipe", "reads or writes a pipe whose other end does nothing")
    if call in ("read", "write", "readv", "writev", "pread64", "pwrite64", "fsync", "fdatasync", "open", "openat"):
        return (
            _word("file", "waits inside a read, write or open of the file", names_file=True)
            if file
            else _word("file", "waits for a file: to open it, to read or to write it")
        )
    if call in ("nanosleep", "clock_nanosleep"):
        return _word("sleep", "sleeps")
    if call in ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait"):
        return _word("pipe", "waits for something to be readable or writable")
    if call == "futex":
        return _word("lock", "waits for a lock, which Python code or a library holds")
    return None
