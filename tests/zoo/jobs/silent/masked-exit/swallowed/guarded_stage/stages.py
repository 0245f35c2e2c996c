import time
from contextlib import contextmanager


@contextmanager
def stage(name):
    began = time.perf_counter()
    try:
        yield
    except Exception as error:
        print(f"{name}: {type(error).__name__}")
    print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)
