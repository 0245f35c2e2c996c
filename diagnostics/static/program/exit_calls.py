"""The calls by which a program ends itself, by the names that sources write them with. Pure."""

from __future__ import annotations

import ast

RAISING = frozenset(["sys.exit", "_sys.exit", "exit", "quit"])  # they raise SystemExit, which a handler can stop
SYSTEM_EXIT = "SystemExit"
AT_ONCE = frozenset(["os._exit", "_exit", "os.abort"])  # nothing of the program runs after them
LEAVING = RAISING | AT_ONCE
WITH_CODE = LEAVING - {"os.abort"}  # which may be 0: whoever calls them may say success
METHODS = frozenset(name.rpartition(".")[2] for name in LEAVING if "." in name)


def fails(statement: ast.stmt) -> bool:
    """Whether a statement ends the process with a code that is no success: a launcher then ends the other ranks."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in WITH_CODE or not call.args:
        return False
    code = call.args[0]
    return isinstance(code, ast.Constant) and code.value not in (0, None, False)
