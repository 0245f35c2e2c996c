"""The script's own module, as far as its model needs it: definitions run again, other names set to what they were.

Its frames carry the script's own file name and lines.
"""

import __future__

import ast
import hashlib
import sys
import types
from pathlib import Path

from .reading import read
from .refused import CannotRebuild


def define(folder, facts):
    """Returns a module that stands for the script's `__main__`; raises CannotRebuild where the script has changed."""
    extend_search_path(facts["search_path"])
    path = Path(facts["script"])
    main = module_for(path, facts["script_module"])
    if not facts["plan"]:
        return main
    source = source_of(path, facts["script_sha"])
    tree = ast.parse(source)
    flags = future_flags(tree)
    for step in facts["plan"]:
        statement = step[1] if step[0] == "run" else set_value(folder, step, main)
        if statement is not None:
            one = ast.Module(body=[tree.body[statement]], type_ignores=[])
            exec(compile(one, str(path), "exec", flags=flags, dont_inherit=True), vars(main))  # noqa: S102
    return main


def extend_search_path(folders):
    """Has imports find what the script's imports found."""
    sys.path.extend(folder for folder in folders if folder not in sys.path and "ups_doctor" not in folder)


def module_for(path, name):
    """Returns an empty module, known under the name that the script has when it is imported."""
    name = name or path.stem or "captured_script"
    main = types.ModuleType(name)
    main.__file__ = str(path)
    main.__package__ = name.rpartition(".")[0]
    sys.modules[name] = main
    return main


def source_of(path, digest):
    """Returns the script's bytes; raises CannotRebuild where they are not those that ran."""
    hint = "capture it again: run the same command without --resume"
    try:
        source = path.read_bytes()
    except OSError as error:
        raise CannotRebuild("%s cannot be read any more: %s" % (path, error.strerror), hint) from error
    if hashlib.sha256(source).hexdigest() != digest:
        raise CannotRebuild("%s was changed after its run was captured" % path, hint)
    return source


def future_flags(tree):
    """Returns the compiler's flags for the file's `from __future__ import`."""
    names = [
        alias.name
        for one in tree.body
        if isinstance(one, ast.ImportFrom) and one.module == "__future__"
        for alias in one.names
    ]
    flags = 0
    for name in names:
        flags |= getattr(__future__, name).compiler_flag
    return flags


def set_value(folder, step, main):
    """Sets a name to the value it had; returns the statement to run in its place where it cannot be read."""
    number, statement = step[2:]
    try:
        vars(main).update(read(folder, "global-%d" % number, main))
    except Exception:
        if statement is None:
            raise
        return statement
    return None
