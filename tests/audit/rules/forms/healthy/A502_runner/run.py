import logging
from train import main

log = logging.getLogger("run")


class Runner:
    def __init__(self, target, retries=0):
        self.target, self.retries = target, retries

    def guarded(self):
        try:
            self.target()
        except BaseException:
            log.exception("the training failed")
            raise
        else:
            log.info("the training is done")


if __name__ == "__main__":
    Runner(main).guarded()
