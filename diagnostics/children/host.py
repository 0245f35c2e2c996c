"""Imports torch once and forks ranks from itself; run by file path under the job's own Python.

    python host.py CONTROL_FD DOCTOR_PID [LATE_MODULE...]

Standard library and torch only, syntax of Python 3.8. It speaks JSON lines over the socket CONTROL_FD, since
torch prints on stdout: first a hello, then one answer a request `{task, tasks_dir, nproc, arguments, env, deadline_s,
grace_s, idle_s}`. LATE_MODULEs, which torch itself puts off, are imported after the hello, or by a request `{late}`;
that is answered, too. CUDA is never initialised here: a fork of a process that did so cannot use it.
No rank outlives this process and this process does not outlive the doctor, also where the doctor is killed.
"""

import faulthandler
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
import types
from pathlib import Path

from forked import die_with, leave_with, parse
from host_facts import for_forks, hello, import_late

PACKAGE = "ups_doctor_tasks"  # private: the job may own a package called `tasks`
OUTPUT_LIMIT = 64 * 1024  # bytes kept of each end of one rank's stdout and stderr
STACKS_DEADLINE_S = 0.5


class Rank:
    """One forked process and what is known of it."""

    def __init__(self, rank):
        self.rank = rank
        self.pid = 0
        self.stdout = anonymous_file()
        self.stderr = anonymous_file()
        self.answer = b""
        self.status = None
        self.seconds = 0.0
        self.ended = False
        self.timed_out = False

    @property
    def failed(self):
        """Has ended, and not with exit code 0."""
        return self.status is not None and self.status != 0

    def as_json(self):
        """Returns what the doctor's RankResult holds."""
        number = os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else None
        return {
            "rank": self.rank,
            "pid": self.pid,
            "returncode": -number if number is not None else os.WEXITSTATUS(self.status),
            "signal": number,
            "answer": parse(self.answer),
            "stdout": read_ends(self.stdout),
            "stderr": read_ends(self.stderr),
            "seconds": self.seconds,
            "ended": self.ended,
            "timed_out": self.timed_out,
        }


def main(control_fd, doctor_pid, late):
    """Says hello, then serves requests until the doctor closes the socket."""
    die_with(doctor_pid)
    faulthandler.enable()
    sys.path.pop(0)  # this folder: its file names are no business of the job's imports
    for own in ("forked", "host_facts"):  # nor are their names
        del sys.modules[own]
    control = socket.socket(fileno=control_fd)
    with for_forks():
        about = hello()
    say(control, about)
    if late:
        say(control, {"late": import_late(late, about)})
    with control.makefile("rb") as requests:
        for line in requests:
            request = json.loads(line.decode())
            if "late" in request:
                say(control, {"late": import_late(request["late"], about)})
            else:
                say(control, {"ranks": serve(request, control)})


def say(control, message):
    """Sends one JSON line."""
    control.sendall(json.dumps(message).encode() + b"\n")


def serve(request, control):
    """Returns how each rank of one request ended."""
    sys.stdout.flush()
    sys.stderr.flush()
    started = time.monotonic()
    ranks, pipes = [], {}
    for number in range(request["nproc"]):
        rank = Rank(number)
        pipes[start(rank, request, control, pipes)] = rank
        ranks.append(rank)
    watch(pipes, control, started, request["deadline_s"], request["grace_s"], Stillness(request.get("idle_s", 0.0)))
    return [rank.as_json() for rank in ranks]


def start(rank, request, control, pipes):
    """Forks one rank; returns the end of its answer pipe, which closes when the rank ends."""
    reader, writer = os.pipe()
    host_pid = os.getpid()
    rank.pid = os.fork()
    if rank.pid == 0:
        control.close()
        for fd in [reader, *pipes]:
            os.close(fd)
        leave_with(lambda: be_rank(rank, request, writer, host_pid))
    os.close(writer)
    own_group(rank.pid)
    return reader


def own_group(pid):
    """Puts a rank into a process group of its own; said by both sides, so that neither can be late."""
    try:
        os.setpgid(pid, pid)
    except OSError:  # the other side was first, or the rank has ended
        return


def be_rank(rank, request, answer_fd, host_pid):
    """The life of one rank: its own output, its own environment, one task, one answer."""
    own_group(0)
    die_with(host_pid)
    os.dup2(rank.stdout.fileno(), 1)
    os.dup2(rank.stderr.fileno(), 2)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True, chain=False)  # chain would kill a rank by SIG_DFL
    for name, value in variables(rank.rank, request).items():
        os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
    answer = load(request["task"], request["tasks_dir"]).run(rank.rank, request["nproc"], request["arguments"])
    payload = json.dumps(answer).encode()
    while payload:
        payload = payload[os.write(answer_fd, payload) :]


def variables(rank, request):
    """Returns what a launcher would set, overridden by what was asked for."""
    values = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": request["nproc"], "LOCAL_WORLD_SIZE": request["nproc"]}
    named = {name: str(value) for name, value in values.items()}
    return {"MASTER_ADDR": "127.0.0.1", **named, **request["env"]}


def load(task, tasks_dir):
    """Imports tasks_dir/TASK.py below a private package, so that tasks may import their neighbours."""
    package = types.ModuleType(PACKAGE)
    package.__path__ = [tasks_dir]
    sys.modules[PACKAGE] = package
    return importlib.import_module("%s.%s" % (PACKAGE, task))


class Stillness:
    """Whether some ranks, with all processes in their groups, did next to nothing for `after_s`; 0 for never.

    Threads of a process group that waits wake up a few times a second: that is no work.
    """

    LOOK_S = 0.5
    SHARE = 0.02  # of a CPU, for each process

    def __init__(self, after_s):
        self.after_s = after_s
        self._since, self._ticks, self._ready = time.monotonic(), {}, False

    def seen(self, ranks):
        """Looks once more; returns whether they have been still for long enough."""
        if not self.after_s:
            return False
        now = time.monotonic()
        ticks, ready = cpu_of([rank.pid for rank in ranks])
        allowed = 2 + (now - self._since) * self.SHARE * os.sysconf("SC_CLK_TCK")
        worked = any(spent - self._ticks.get(pid, 0) > allowed for pid, spent in ticks.items())
        if worked or ticks.keys() != self._ticks.keys() or (ready and self._ready):
            self._since, self._ticks = now, ticks
        self._ready = ready
        return now - self._since >= self.after_s


def cpu_of(groups):
    """Returns the CPU ticks of each process in these process groups, and whether one can run or waits for a disk."""
    ticks, ready = {}, False
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            words = (process / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(words[2]) in groups:
            ready = ready or words[0] in (b"R", b"D")
            ticks[process.name] = int(words[11]) + int(words[12])
    return ticks, ready


def watch(pipes, control, started, deadline_s, grace_s, stillness):
    """Reads answers until every rank has ended, ending those that are left at the deadline or stand still.

    A rank that failed leaves its peers waiting for it: they get `grace_s` to say so themselves.
    """
    poller = select.poll()
    for fd in [control.fileno(), *pipes]:
        poller.register(fd, select.POLLIN)
    stop_at = started + deadline_s
    failed = False
    while pipes:
        wait_s = stop_at - time.monotonic()
        still = stop_at < float("inf") and stillness.seen(pipes.values())
        if wait_s <= 0 or still:
            end(pipes.values(), timed_out=still or time.monotonic() >= started + deadline_s)
            stop_at = float("inf")  # their pipes close now
            continue
        if stillness.after_s:
            wait_s = min(wait_s, stillness.LOOK_S)
        for fd, _ in poller.poll(None if wait_s == float("inf") else wait_s * 1000 + 1):
            if fd == control.fileno():  # nothing is sent while we work: the doctor has gone
                kill(pipes.values())
                os._exit(1)
            rank = pipes[fd]
            chunk = os.read(fd, 65536)
            rank.answer += chunk
            if not chunk:
                poller.unregister(fd)
                os.close(fd)
                reap(pipes.pop(fd), started)
                if rank.failed and not failed:
                    failed = True
                    stop_at = min(stop_at, time.monotonic() + grace_s)


def reap(rank, started):
    """Takes a rank's true end; what it may have left in its group is killed."""
    _, rank.status = os.waitpid(rank.pid, 0)
    rank.seconds = time.monotonic() - started
    kill([rank])


def end(ranks, timed_out):
    """Has the ranks that are left write their stacks, then kills them."""
    ranks = list(ranks)
    sizes = {rank.pid: size(rank.stderr) for rank in ranks}
    for rank in ranks:
        rank.ended, rank.timed_out = True, timed_out
        os.kill(rank.pid, signal.SIGUSR1)
    until = time.monotonic() + STACKS_DEADLINE_S
    while time.monotonic() < until and any(size(rank.stderr) == sizes[rank.pid] for rank in ranks):
        time.sleep(0.01)
    kill(ranks)


def kill(ranks):
    """Kills each rank's whole process group."""
    for rank in ranks:
        try:
            os.killpg(rank.pid, signal.SIGKILL)
        except OSError:  # nothing of it is left
            continue


def anonymous_file():
    """Returns an open file without a name: nothing is left of it, whoever dies first."""
    if hasattr(os, "memfd_create"):  # works on a full disk; some builds of Python lack it
        return os.fdopen(os.memfd_create("ups-doctor-rank"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def size(file):
    """Bytes written so far."""
    return os.fstat(file.fileno()).st_size


def read_ends(file):
    """Returns the text written to a file; of a long one its head and its tail."""
    total = size(file)
    if total <= 2 * OUTPUT_LIMIT:
        text = os.pread(file.fileno(), total, 0)
    else:
        left_out = b"\n[... %d bytes left out ...]\n" % (total - 2 * OUTPUT_LIMIT)
        tail = os.pread(file.fileno(), OUTPUT_LIMIT, total - OUTPUT_LIMIT)
        text = os.pread(file.fileno(), OUTPUT_LIMIT, 0) + left_out + tail
    file.close()
    return text.decode("utf-8", "replace")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
