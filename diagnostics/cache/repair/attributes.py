"""What a copy keeps of the file it replaces besides its content: owner, permissions, extended attributes, times."""

from __future__ import annotations

import os


def keep_attributes(source: int, target: int, status: os.stat_result) -> tuple[str, ...]:
    """Gives the target the source's attributes; returns what could not be kept, in words for people."""
    owner = _keep_owner(target, status)
    notes = [*owner, *_keep_extended(source, target)]
    # After the owner: a change of owner clears bits. Rights of another owner are not handed to this one.
    os.fchmod(target, status.st_mode & (0o777 if owner else 0o7777))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return tuple(notes)


def _keep_owner(target: int, status: os.stat_result) -> list[str]:
    now = os.fstat(target)
    if (now.st_uid, now.st_gid) == (status.st_uid, status.st_gid):
        return []
    try:
        os.fchown(target, status.st_uid, status.st_gid)
    except PermissionError:
        try:
            os.fchown(target, -1, status.st_gid)
        except PermissionError:
            return [f"its owner was {status.st_uid}:{status.st_gid}, it is {now.st_uid}:{now.st_gid}"]
        return [f"its owner was user {status.st_uid}, it is user {now.st_uid}"]
    return []


def _keep_extended(source: int, target: int) -> list[str]:
    lost: list[str] = []
    try:
        names = os.listxattr(source)
    except OSError:
        return []  # the file system has none
    for name in names:
        try:
            os.setxattr(target, name, os.getxattr(source, name))
        except OSError:
            lost.append(name)
    return [f"its attributes {', '.join(lost)} could not be kept"] if lost else []
