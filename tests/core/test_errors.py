from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from diagnostics.core.errors import DoctorError, UsageError, from_os_error


def test_an_error_carries_message_hint_and_exit_code() -> None:
    error = DoctorError("it is broken", hint="mend it")
    assert (str(error), error.message, error.hint, error.exit_code) == ("it is broken", "it is broken", "mend it", 1)
    assert UsageError("wrong").exit_code == 2
    assert DoctorError("own code", exit_code=70).exit_code == 70


@pytest.mark.parametrize(
    ("number", "message", "hint"),
    [
        (errno.ENOSPC, "the disk is full", "free some space (df -h /data/run) and run the command again"),
        (errno.EDQUOT, "the disk quota is used up", "free some space and run the command again"),
        (errno.EACCES, "permission denied", "check who owns it: namei -l /data/run"),
        (errno.EPERM, "permission denied", "check who owns it: namei -l /data/run"),
        (errno.EROFS, "the file system is read-only", "choose a folder on another disk"),
        (errno.ENOENT, "no such file or folder", "check the spelling: ls -l /data"),
        (errno.EEXIST, "it exists already", "choose another name, or move it away"),
        (errno.ENOTDIR, "a part of the path is not a folder", "check the path: ls -ld /data"),
        (errno.EISDIR, "it is a folder, a file was expected", "name a file inside it"),
        (errno.EMFILE, "too many open files", "raise the limit: ulimit -n 65536"),
        (errno.EIO, "Input/output error", ""),
    ],
)
def test_each_os_error_becomes_a_sentence_with_a_remedy(number: int, message: str, hint: str) -> None:
    refused = from_os_error(OSError(number, os.strerror(number)), action="cannot write", path=Path("/data/run"))
    assert (refused.message, refused.hint) == (f"cannot write /data/run: {message}", hint)


def test_the_path_is_taken_from_the_error_where_none_is_given() -> None:
    assert from_os_error(OSError(2, "x", "here.txt"), action="cannot read").message == (
        "cannot read here.txt: no such file or folder"
    )
    assert from_os_error(OSError(2, "x", b"here.txt"), action="cannot read").message == (
        "cannot read here.txt: no such file or folder"
    )
    assert from_os_error(OSError("odd"), action="cannot use").message == "cannot use: odd"
