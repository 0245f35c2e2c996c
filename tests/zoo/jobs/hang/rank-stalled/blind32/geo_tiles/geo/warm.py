import argparse
import logging

from geo.cache import build

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--cache", required=True)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    build(p.parse_args().cache)
