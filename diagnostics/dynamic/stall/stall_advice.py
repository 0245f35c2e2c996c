"""What to do about each kind of wait that does not end. Pure."""

from __future__ import annotations

from diagnostics.dynamic.stall.wait_cause import Kind, Reason

_ADVICE = {
    Kind.STOPPED: "find out who stopped the process (kill -STOP, Ctrl-Z, a terminal that it read in the background)",
    Kind.TRACED: "detach the debugger or tracer",
    Kind.DISK: "see whether the disk or network file system answers: dmesg, df, iostat",
    Kind.SWAPPING: "let the job use less memory, or run fewer processes on this machine",
    Kind.DEBUGGER: "take the breakpoint out of a job that runs without a terminal",
    Kind.TERMINAL: "let no rank read standard input: take the answer from an option, or give it stdin=DEVNULL",
    Kind.DATA_WORKER: "look at what the worker does there; a DataLoader(timeout=...) turns the wait into an error",
    Kind.CHILD: "give the wait a timeout, and see what the process it started waits for",
    Kind.FILE_LOCK: "let one rank take the lock, or give it a timeout, and call no collective while it is held",
    Kind.POLL: "give the loop a deadline, and see whether what it waits for can come at all",
    Kind.LOOP: "give the loop a limit on its turns; its condition may never change",
    Kind.LOCK: "see who holds the lock: a thread that waits for this one, or the same thread a second time",
    Kind.QUEUE: "give the queue's call a timeout, and see whether who should answer still lives",
    Kind.EVENT: "give the wait a timeout, and see who should end it",
    Kind.THREAD: "look at what the thread does; give join() a timeout",
    Kind.PIPE: "see whether the process at the other end lives, and give the wait a timeout",
    Kind.NETWORK: "give the request a timeout, and let one rank download before the others go on",
    Kind.FILE: "see what the file is (a FIFO without a writer, a mount that does not answer)",
    Kind.SLEEP: "see why the rank sleeps here while its peers go on",
    Kind.NATIVE: "see how long this call may take on this much data, and whether every rank makes it",
    Kind.IMPORT: "import the module before threads are started",
}


def advice(reason: Reason | None, line: str) -> str:
    """Returns what to do, beginning with the line."""
    known = _ADVICE.get(reason.kind) if reason is not None else None
    if known is None:
        return f"look at what {line or 'the rank'} waits for, and whether every rank reaches it"
    return f"{line}: {known}" if line else known
