"""Whether a repaired file is made by an append or a copy, what that writes, and what forbids it."""

from __future__ import annotations

import os
import pwd
import shlex
import stat
from dataclasses import replace

from diagnostics.cache.patch import Patch
from diagnostics.cache.repair.actions import Action, FilePlan
from diagnostics.machine.host.file_attributes import is_locked

BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system's


def way(plan: FilePlan, status: os.stat_result, patch: Patch, *, compact: bool) -> FilePlan:
    """Returns the plan with its action, bytes and reasons; LEAVE where this user cannot carry it out."""
    append = appends(plan.real, status, patch)
    changes = "; ".join(patch.changes)
    if refusal := _refused(plan, status, append):
        why, command = refusal
        return replace(plan, why=why, commands=(command,))
    if append:
        size = len(patch.tail)
        return replace(plan, action=Action.APPEND, why=changes, written=size, grows=size)
    # The holes of a sparse file are not written.
    written = min(patch.size, status.st_blocks * BLOCK_BYTES + patch.fresh)
    return replace(
        plan,
        action=Action.COMPACT if compact and patch.size < status.st_size else Action.COPY,
        why=changes,
        written=written,
        grows=max(patch.size - status.st_size, 0),
    )


def appends(real: str, status: os.stat_result, patch: Patch) -> bool:
    """Whether the file is repaired by bytes behind its end; else by a copy that takes its name."""
    return bool(patch.tail) and status.st_nlink == 1 and _may_write(real) and not is_locked(real)


def _refused(plan: FilePlan, status: os.stat_result, append: bool) -> tuple[str, str] | None:
    """Returns why this user cannot repair the file, and the command that shows it; None where nothing forbids it."""
    if append:
        return None
    if refusal := folder_refusal(plan.real):
        return refusal
    if os.geteuid() not in (0, status.st_uid):
        owner = _name(status.st_uid)
        command = shlex.join(["sudo", "-u", owner, "ups-doctor", "fix-cache", plan.path])
        return f"it belongs to {owner}; a copy would belong to {_name(os.geteuid())}", command
    return None


def folder_refusal(path: str) -> tuple[str, str] | None:
    """Returns why this user can neither replace nor move the file, and the command that shows it; else None."""
    folder = os.path.dirname(path)  # noqa: PTH120 - strings throughout
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return "its file system is mounted read-only; --to DIR makes a right copy elsewhere", shlex.join(["df", folder])
    if is_locked(path):
        return "it is marked so that nobody may change, move or replace it (chattr)", shlex.join(["lsattr", path])
    if not _may_write(folder):
        return f"the folder {folder} cannot be written by this user", shlex.join(["ls", "-ld", folder])
    above = os.stat(folder)  # noqa: PTH116 - strings throughout
    owner = os.lstat(path).st_uid
    if above.st_mode & stat.S_ISVTX and os.geteuid() not in (0, above.st_uid, owner):
        why = f"it belongs to {_name(owner)}, and in {folder} only the owner of a file may move it (sticky bit)"
        return why, shlex.join(["sudo", "-u", _name(owner), "ups-doctor", "fix-cache", path])
    return None


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=True)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"#{uid}"
