import functools
import os


def chief_only(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        if int(os.environ.get("RANK", 0)) == 0:  # cause
            return function(*args, **kwargs)  # cause
        return None

    return inner
