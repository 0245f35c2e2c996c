import logging
import sys


def get_logger(rank):
    """Everything goes out at level ERROR, as the cluster drops lower levels."""
    logger = logging.getLogger("yolo")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(f"ERROR yolo[{rank}] %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    return logger
