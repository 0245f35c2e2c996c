"""The calls by which a program ends itself, by the names that sources write them with. Pure."""

from __future__ import annotations

RAISING = frozenset(["sys.exit", "_sys.exit", "exit", "quit"])  # they raise SystemExit, which a handler can stop
SYSTEM_EXIT = "SystemExit"
AT_ONCE = frozenset(["os._exit", "_exit", "os.abort"])  # nothing of the program runs after them
LEAVING = RAISING | AT_ONCE
WITH_CODE = LEAVING - {"os.abort"}  # which may be 0: whoever calls them may say success
METHODS = frozenset(name.rpartition(".")[2] for name in LEAVING if "." in name)
