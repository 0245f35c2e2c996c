"""What calls mean for a value that is given to them: it is shown, kept, or made into another one. Pure."""

from __future__ import annotations

import ast
from enum import Enum, auto

from diagnostics.dynamic.exit_status.saying_statements import says_only
from diagnostics.static.program import exit_calls
from diagnostics.static.program.functions import last_name


class CallKind(Enum):
    """What a call does with what it is given."""

    SAYS = auto()  # shows it to who reads along
    WRITES = auto()  # writes it to a file
    STORES = auto()  # keeps it in the object whose method it is
    MAKES = auto()  # gives back a value made of it, and does nothing else
    POOLS = auto()  # has a function run elsewhere, and gives back what that returned
    IDLE = auto()  # waits, makes a folder, ends other processes: nothing is made good
    LEAVES = auto()
    LEAVES_WITH_0 = auto()
    UNKNOWN = auto()


_WRITES = frozenset(
    ["write", "writelines", "writerow", "writerows", "writeheader", "dump", "safe_dump", "write_text", "write_bytes",
     "to_csv", "to_json", "savetxt", "print"]
)  # fmt: skip
STORES = frozenset(
    ["append", "add", "extend", "insert", "appendleft", "update", "setdefault", "add_row", "put", "put_nowait"]
)
_POOLS = frozenset(
    ["submit", "map", "starmap", "imap", "imap_unordered", "apply", "apply_async", "map_async", "starmap_async",
     "run_in_executor", "to_thread"]
)  # fmt: skip
_IDLE = frozenset(
    ["sleep", "mkdir", "makedirs", "close", "flush", "terminate", "kill", "killpg", "send_signal", "join", "shutdown",
     "acquire", "release", "basicConfig", "wait"]
)  # fmt: skip
_TAKES = frozenset(
    ["pop", "popleft", "get", "get_nowait", "result", "exception", "communicate", "poll", "read", "recv"]
)
COUNTS = frozenset(["empty", "qsize", "full"])
PARSES = frozenset(["float", "int", "loads", "load", "safe_load", "literal_eval"])  # they raise where nothing was left
_BUILTINS = frozenset(
    ["str", "bool", "len", "sum", "max", "min", "sorted", "any", "all", "list", "tuple", "dict", "set", "frozenset",
     "zip", "enumerate", "filter", "reversed", "range", "abs", "round", "repr", "format", "divmod", "next", "iter",
     "isinstance", "type", "getattr", "hasattr"]
)  # fmt: skip
_METHODS = frozenset(
    ["join", "split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "startswith", "endswith", "lower", "upper",
     "title", "replace", "encode", "decode", "ljust", "rjust", "center", "zfill", "find", "count", "index",
     "partition", "rpartition", "removeprefix", "removesuffix", "items", "values", "keys", "get", "copy", "deepcopy",
     "pop", "popleft", "most_common", "result", "exception", "done", "group", "groups", "groupdict", "search",
     "match", "fullmatch", "findall", "finditer", "compile", "sub", "item", "tolist", "read", "readline", "readlines",
     "empty", "qsize", "get_nowait", "recv", "is_set", "poll", "is_alive", "communicate", "__getitem__"]
)  # fmt: skip
_OF_LIBRARIES = frozenset(
    ["WEXITSTATUS", "WIFEXITED", "WIFSIGNALED", "WTERMSIG", "waitstatus_to_exitcode", "Signals", "strsignal", "time",
     "perf_counter", "monotonic", "now", "utcnow", "today", "strftime", "isoformat", "total_seconds", "Path",
     "PurePath", "joinpath", "with_suffix", "with_name", "resolve", "absolute", "basename", "dirname", "exists",
     "lexists", "is_file", "isfile", "is_dir", "isdir", "stat", "getsize", "getmtime", "access", "glob", "iglob",
     "rglob", "listdir", "scandir", "iterdir", "open", "read_text", "read_bytes", "reader", "DictReader", "writer",
     "DictWriter", "getLogger", "dumps", "pformat", "tabulate", "DataFrame", "Table", "to_string", "to_markdown",
     "Counter", "defaultdict", "OrderedDict", "deque", "namedtuple", "asdict", "vars", "chain", "product", "mean",
     "median", "stdev", "isnan", "isfinite", "gather", "wait_for", "create_task", "ensure_future",
     "run_until_complete", "as_completed", "SimpleNamespace"]
)  # fmt: skip
_MAKES = _BUILTINS | _METHODS | _OF_LIBRARIES | PARSES
_MAKES_BY_FULL_NAME = frozenset(["asyncio.run", "os.path.join", "str.join"])


def call_kind(call: ast.Call) -> CallKind:
    """Returns what a call of a function that is not the program's own does with what it is given."""
    name, full = last_name(call.func), ast.unparse(call.func)
    is_method = isinstance(call.func, ast.Attribute)
    if full in exit_calls.LEAVING:
        left = not call.args or (isinstance(call.args[0], ast.Constant) and not call.args[0].value)
        return CallKind.LEAVES_WITH_0 if left and full in exit_calls.WITH_CODE else CallKind.LEAVES
    if says_only([ast.Expr(value=call)]):
        return CallKind.SAYS
    if name in STORES and is_method:
        return CallKind.STORES
    if name in _POOLS and is_method:
        return CallKind.POOLS
    if name in _WRITES:
        return CallKind.WRITES
    if full in _MAKES_BY_FULL_NAME or name == "map" or (name == "join" and _joins_texts(call)):
        return CallKind.MAKES
    if name in _IDLE:
        return CallKind.IDLE
    return CallKind.MAKES if name in _MAKES else CallKind.UNKNOWN


def for_its_effect(call: ast.Call, parent: ast.AST | None) -> bool:
    """Whether nobody takes what a call makes: `tuner.search(x)` does something, whatever `search` of a text does."""
    return isinstance(parent, ast.Expr) and last_name(call.func) not in _TAKES


def leaves_with_0(node: ast.AST) -> bool:
    """Whether a node is a call that ends the program and says success."""
    return isinstance(node, ast.Call) and call_kind(node) is CallKind.LEAVES_WITH_0


def _joins_texts(call: ast.Call) -> bool:
    """Whether it is `sep.join(parts)`: a thread's or a process's takes no more than seconds."""
    given = call.args[0] if len(call.args) == 1 and not call.keywords else None
    return given is not None and not (isinstance(given, ast.Constant) and isinstance(given.value, int | float))
