"""What differs between ranks by itself: the rank, local data, files, time, chance, the surroundings. Pure."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from diagnostics.static.dataflow import rank_words
from diagnostics.static.program.call_graph import last_name
from diagnostics.static.program.cfg_expressions import dotted

RANK, EXCEPTION, LOSS, DATA, SIGNAL = "rank", "exception", "local loss", "data", "signal"
FILES, TIME, RANDOM, ENVIRONMENT, ORDER = "files", "time", "random", "environment", "order"
WEIGHTS = {
    RANK: 100,
    EXCEPTION: 80,
    SIGNAL: 70,
    LOSS: 65,
    DATA: 60,
    FILES: 45,
    TIME: 42,
    RANDOM: 42,
    ENVIRONMENT: 40,
    ORDER: 45,
}

_FILE_CALLS = {"exists", "isfile", "isdir", "is_file", "is_dir", "glob", "iglob", "rglob", "listdir", "scandir",
               "iterdir", "getmtime", "getsize", "stat", "walk", "access", "lexists"}  # fmt: skip
_TIME_CALLS = {"time", "perf_counter", "monotonic", "time_ns", "process_time", "now", "utcnow", "perf_counter_ns",
               "monotonic_ns", "elapsed_time", "today"}  # fmt: skip
_RANDOM_CALLS = {"random", "randint", "choice", "choices", "shuffle", "sample", "rand", "randn", "uniform", "randrange",
                 "getrandbits", "uuid4", "uuid1", "urandom", "token_hex", "randperm", "multinomial", "bernoulli",
                 "normal", "permutation", "gauss"}  # fmt: skip
_RANDOM_HOMES = {"random", "np.random", "numpy.random", "torch", "uuid", "os", "secrets", "rng", "generator", ""}
_HOST_CALLS = {"gethostname", "uname", "getfqdn", "getnode"}
LOADER_NAMES = re.compile(r"loader|dataset|shard|batches|samples|iterator", re.IGNORECASE)
# What is said about data sets, and is none of their data: names, settings.
_ABOUT_DATA = re.compile(r"(?:names?|kwargs|cfgs?|configs?|types?|keys?|args|classes|options)$", re.IGNORECASE)
_BATCH = re.compile(r"^(?:batch|sample|inputs?|images?|tokens|shard)(?:es|s)?$", re.IGNORECASE)
LOSS_NAME = re.compile(r"(?:^|_)loss$", re.IGNORECASE)
# Names of losses, and the functions of torch that compute one.
_OF_LOSS = re.compile(r"loss|cross_entropy|criterion|perplexity|kl_div\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Taint:
    """Why a value can differ, and where that comes in. `control`: it was set on a way that only some ranks take."""

    why: str
    file: str
    line: int
    function: str
    control: bool = False
    syntax: ast.AST | None = field(default=None, compare=False)

    @property
    def weight(self) -> int:
        """How much it says: the rank most."""
        return WEIGHTS.get(self.why, 0)


def reads_data(name: str) -> bool:
    """Whether a name is that of a loader, a data set or the like, and not of what is said about one."""
    return LOADER_NAMES.search(name) is not None and not _ABOUT_DATA.search(name)


def source_of(value: ast.AST) -> str | None:
    """Returns why an expression differs between ranks by itself, in one word."""
    if isinstance(value, ast.Call):
        return _source_call(value)
    if isinstance(value, ast.Constant):
        return RANK if isinstance(value.value, str) and rank_words.RANK_VARIABLE.match(value.value) else None
    if isinstance(value, (ast.Set, ast.SetComp)):
        return ORDER
    name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
    if not name or not isinstance(getattr(value, "ctx", None), ast.Load):
        return None
    if rank_words.RANK_NAME.match(name) and not rank_words.NOT_A_RANK.search(name):
        return RANK
    # `Shard` is a class.
    return DATA if isinstance(value, ast.Name) and _BATCH.match(name) and not name[:1].isupper() else None


def _source_call(call: ast.Call) -> str | None:
    module, _, name = dotted(call.func).rpartition(".")
    name = name or last_name(call.func)
    if name in rank_words.RANK_CALLS or rank_words.RANK_NAME.match(name):
        return RANK
    if name in _HOST_CALLS:
        return RANK if name == "gethostname" else ENVIRONMENT
    if name in _FILE_CALLS and not (name in ("access", "stat", "walk") and module != "os"):
        return FILES
    if name in _TIME_CALLS and module.rpartition(".")[2] in ("time", "datetime", "date", "dt", ""):
        return TIME
    if module == "time" and name in ("strftime", "ctime", "asctime", "localtime", "gmtime"):
        return TIME
    if (
        name in _RANDOM_CALLS
        and module in _RANDOM_HOMES
        and not (module == "" and name in ("choice", "sample", "normal"))
    ):
        return RANDOM
    if name == "item" and isinstance(call.func, ast.Attribute) and not call.args:
        return LOSS if _OF_LOSS.search(ast.unparse(call.func.value)) else DATA
    if name == "len" and call.args and reads_data(last_name(call.args[0])):
        return DATA
    if name in ("isnan", "isinf", "isfinite", "backward"):
        return LOSS if _OF_LOSS.search(ast.unparse(call)) else DATA
    if name in ("memory_allocated", "memory_reserved", "mem_get_info", "virtual_memory", "cpu_count", "device_count"):
        return ENVIRONMENT
    if name == "set" and module == "":
        return ORDER
    if name in ("empty", "full", "poll", "qsize") and "queue" in module.lower():
        return DATA
    if name == "next":  # the first of a comprehension differs where what it goes through does
        return None if call.args and isinstance(call.args[0], ast.GeneratorExp) else DATA
    if name in ("environ.get", "getenv") or module.endswith("environ"):
        return ENVIRONMENT
    return None
