"""Names that no file of data has a reason to call: with them a pickle reaches the system, or any code at all."""

from __future__ import annotations

_MODULE_NAMES = (
    "_ctypes _pickle _posixsubprocess asyncio bdb cPickle cProfile code codeop commands concurrent copyreg ctypes "
    "distutils doctest ensurepip fileinput ftplib gc http idlelib imaplib importlib inspect io linecache marshal mmap "
    "multiprocessing nt ntpath os pdb pickle pip pipes pkgutil platform popen2 poplib posix posixpath profile "
    "pty pydoc requests resource runpy setuptools shelve shutil signal site smtplib socket socketserver sqlite3 "
    "ssl subprocess sys telnetlib tempfile test threading timeit trace urllib urllib2 venv webbrowser xmlrpc "
    "zipfile zipimport"
)
_BUILTIN_NAMES = (
    "__import__ apply breakpoint compile delattr eval exec execfile exit file getattr globals help input locals "
    "map open quit reload setattr type vars"
)
_MODULES, _BUILTINS = frozenset(_MODULE_NAMES.split()), frozenset(_BUILTIN_NAMES.split())
_NAMES = frozenset(
    {
        "functools.partial",
        "functools.reduce",
        "numpy.f2py",
        "numpy.load",
        "numpy.testing",
        "operator.attrgetter",
        "operator.itemgetter",
        "operator.methodcaller",
        "pandas.eval",
        "pandas.read_pickle",
        "torch.hub.load",
        "torch.jit.load",
        "torch.load",
        "torch.serialization.load",
        "torch.storage._load_from_bytes",
        "torch.utils.cpp_extension",
        "types.CodeType",
        "types.FunctionType",
    }
)


def dangerous(name: str) -> bool:
    """Whether a dotted name leads to the system or to any code, or is no plain name of a module's at all."""
    module, _, rest = name.partition(".")
    if " " in name or module in _MODULES:  # "a value computed by the pickle itself"
        return True
    if module in ("builtins", "__builtin__"):
        return rest.partition(".")[0] in _BUILTINS
    return any(name == known or name.startswith(f"{known}.") for known in _NAMES)
