"""Where a class is written."""

import inspect
import os
import sys
from functools import lru_cache

from ..inspection.places import is_users

LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


@lru_cache(maxsize=None)
def place(kind):
    """Returns "model.py:12", relative to the working directory where it lies below; "" for library classes."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not file or any(part in file for part in LIBRARIES) or not is_users(file):
        return ""
    try:
        line = inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return ""
    inside = os.getcwd() + os.sep  # noqa: PTH109 - one concept: a text before a text
    file = os.path.abspath(file)  # noqa: PTH100
    return "%s:%d" % (file[len(inside) :] if file.startswith(inside) else file, line)
