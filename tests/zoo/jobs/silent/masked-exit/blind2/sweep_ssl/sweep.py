import argparse
import logging

from stable_ssl.scheduler import Scheduler
from stable_ssl.space import trials


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--world-size", type=int, default=2)
    parser.add_argument("--parallel", type=int, default=1)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    scheduler = Scheduler(args.world_size, args.parallel)
    for name, params in trials():
        scheduler.submit(name, params)
    done, pending = scheduler.drain()
    logging.info("sweep is complete: %d trials done, %d pending", done, pending)


if __name__ == "__main__":
    main()
