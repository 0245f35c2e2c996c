"""Workers are forked while a thread logs: one that inherits the handler's lock waits for ever on its first line."""
import logging
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from uploader import Uploader

logger = logging.getLogger(__name__)


def tokenize(path):
    logger.info("reading %s", path)
    ids = torch.tensor([ord(one) for one in Path(path).read_text()])
    torch.save(ids, f"{path}.pt")
    return f"{path}.pt"


def main():
    logging.basicConfig(filename="prepare.log", level=logging.INFO)
    uploader = Uploader()
    with ProcessPoolExecutor(8, mp_context=get_context("fork")) as pool:  # cause
        for path in pool.map(tokenize, sorted(map(str, Path("corpus").glob("*.txt")))):
            uploader.done.put(path)


if __name__ == "__main__":
    main()
