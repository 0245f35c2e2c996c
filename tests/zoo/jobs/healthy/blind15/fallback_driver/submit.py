"""Runs the fit with the largest micro-batch that the memory budget lets through."""
import argparse
import logging
import subprocess
import sys

log = logging.getLogger("submit")


def attempt(micro, rest):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
               "fit.py", "--micro", str(micro), *rest]
    log.info("micro-batch %d", micro)
    return subprocess.run(command).returncode


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--micro", type=int, nargs="+", default=[256, 64])
    p.add_argument("rest", nargs=argparse.REMAINDER)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="submit: %(message)s")
    for micro in a.micro:
        if attempt(micro, a.rest) == 0:
            log.info("done with micro-batch %d", micro)
            return 0
        log.warning("micro-batch %d did not work, trying a smaller one", micro)
    return 1


if __name__ == "__main__":
    sys.exit(main())
