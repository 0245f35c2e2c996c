"""Tracebacks that the job shows: without the frames of what stands in for functions of torch and of the interpreter."""

from __future__ import annotations

from .frames import is_own

MOST = 64  # exceptions that one came from; a chain may be made to go round


def without_own(error, traceback):
    """Takes our frames out of an exception's traceback and of those it came from; returns what is left of the first.

    The job would not have them without us, nor would who looks at its objects afterwards.
    """
    head = unlinked(traceback)
    todo, seen = [error], set()
    while todo and len(seen) < MOST:
        one = todo.pop()
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        whole = one.__traceback__
        first = unlinked(whole)
        if first is not whole:
            BaseException.with_traceback(one, first)
        todo += [one.__cause__, one.__context__]
        group = getattr(one, "exceptions", None)
        todo += group if isinstance(group, (tuple, list)) else ()
    return head


def unlinked(traceback):
    """Takes our frames out of a chain of traceback objects; returns its first one. One that is ours alone stays."""
    head = traceback
    while head is not None and is_own(head.tb_frame.f_code.co_filename):
        head = head.tb_next
    if head is None:
        return traceback
    last = head
    while last is not None:
        following = last.tb_next
        while following is not None and is_own(following.tb_frame.f_code.co_filename):
            following = following.tb_next
        if following is not last.tb_next:
            last.tb_next = following
        last = following
    return head
