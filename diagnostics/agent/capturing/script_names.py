"""What of a script's top level has to be there for its model: definitions to run again, and values to set.

Nothing else of the script is run when the model is made again: no loop, no argument parser, no download.
"""

from __future__ import annotations

import ast
import builtins
import dis
import types

DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
READS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


def planned(path, names, values, pack):
    """Returns the plan, and what was packed, by number.

    The plan lists ["run", statement] and ["value", name, number, statement or null]. `statement` is an index into the
    body of the parsed file; that of a value stands in where it cannot be unpickled.
    """
    with open(path, "rb") as file:
        body = ast.parse(file.read()).body
    binders = _binders(body)
    plan, packed, waiting, known = {}, {}, sorted(names), set()
    for at, statement in enumerate(body):
        if _binds_unseen(statement):
            plan[at, ""] = ["run", at]
    while waiting:
        name = waiting.pop()
        if name in known or name not in values:
            continue
        known.add(name)
        at = next((at for at in binders.get(name, ()) if runs(body[at])), None)
        if at is not None:
            plan.update({(at, ""): ["run", at] for at in binders[name] if runs(body[at])})
            waiting += sorted(set().union(*(loaded(body[at]) for at in binders[name])))
        elif name in binders or not hasattr(builtins, name):
            first = min(binders.get(name, [len(body)]))
            fallback = first if first < len(body) and _pure(body[first]) else None
            try:
                one = pack({name: values[name]})
            except Exception:
                if fallback is not None:
                    plan[first, ""] = ["run", first]
                    waiting += sorted(loaded(body[first]))
                continue
            packed[len(packed)] = one
            plan[first, name] = ["value", name, len(packed) - 1, fallback]
            waiting += sorted(one.names)
    return [plan[key] for key in sorted(plan)], packed


def _binds_unseen(statement):
    """Whether an import tells how the file is compiled, or binds names that are not written in it."""
    imports = isinstance(statement, ast.ImportFrom)
    return imports and (statement.module == "__future__" or statement.names[0].name == "*")


def _binders(body):
    """Returns name -> indices of the top-level statements that bind it."""
    found = {}
    for at, statement in enumerate(body):
        for name in bound(statement):
            found.setdefault(name, []).append(at)
    return found


def bound(statement):
    """Returns the names that a statement binds in the module."""
    if isinstance(statement, DEFINES):
        return {statement.name}
    names, waiting = set(), [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, DEFINES):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, IMPORTS):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        waiting.extend(ast.iter_child_nodes(node))
    return names


def loaded(statement):
    """Returns the names of the module that a statement and the functions in it read."""
    names, waiting = set(), [compile(ast.Module(body=[statement], type_ignores=[]), "", "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        waiting += [one for one in code.co_consts if isinstance(one, types.CodeType)]
        names.update(one.argval for one in dis.get_instructions(code) if one.opname in READS)
    return names


def runs(statement):
    """Whether a statement only imports and defines, so that it may be run again: also in `try` and `if`."""
    if isinstance(statement, (*DEFINES, *IMPORTS)):
        return True
    if isinstance(statement, ast.Try):
        handlers = [one for handler in statement.handlers for one in handler.body]
        return _all_plain([*statement.body, *handlers, *statement.orelse, *statement.finalbody])
    if isinstance(statement, ast.If):
        return not _is_main_guard(statement.test) and _all_plain([*statement.body, *statement.orelse])
    return False


def _all_plain(statements):
    harmless = all(runs(one) or isinstance(one, ast.Pass) or _pure(one) for one in statements)
    return harmless and any(map(runs, statements))


def _is_main_guard(test):
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def _pure(statement):
    """Whether a statement assigns something that no call makes; what is inside a lambda is not called now."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return False
    waiting = [statement.value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if not isinstance(node, ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return True
