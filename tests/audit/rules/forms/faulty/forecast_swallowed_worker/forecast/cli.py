import argparse
import logging
import os
import sys

import torch
import torch.distributed as dist

from forecast.fit import Fitter

log = logging.getLogger("forecast")


def parse(argv):
    p = argparse.ArgumentParser(prog="forecast")
    p.add_argument("--series", required=True)
    p.add_argument("--horizon", type=int, default=24)
    p.add_argument("--context", type=int, default=168)
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--out", default="forecast.pt")
    return p.parse_args(argv)


def setup():
    logging.basicConfig(level=logging.INFO, format=f"[{os.environ.get('RANK', '0')}] %(message)s")
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    if backend == "nccl":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group(backend)


def main(argv=None):
    args = parse(argv)
    setup()
    try:
        Fitter(args).run()
    except KeyboardInterrupt:
        log.info("interrupted")
        return 130
    except Exception:  # cause
        log.exception("training stopped")  # cause
    finally:
        dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
