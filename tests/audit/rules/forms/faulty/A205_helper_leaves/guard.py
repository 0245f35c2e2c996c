import sys


def require(path, rank):
    if rank != 0:  # cause
        sys.exit(0)
    path.mkdir(parents=True, exist_ok=True)
