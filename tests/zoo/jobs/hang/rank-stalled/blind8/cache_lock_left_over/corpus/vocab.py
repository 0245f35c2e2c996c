import contextlib
import json
import os
import time
from pathlib import Path

from .text import lines


@contextlib.contextmanager
def exclusive(path, poll=0.25):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            time.sleep(poll)
    try:
        os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        os.close(handle)
        path.unlink()


def build_vocab(path):
    path = Path(path)
    with exclusive(path.with_suffix(".lock")):
        if not path.exists():
            words = sorted({word for line in lines() for word in line.split()})
            path.write_text(json.dumps({word: i for i, word in enumerate(words)}))
        return json.loads(path.read_text())
