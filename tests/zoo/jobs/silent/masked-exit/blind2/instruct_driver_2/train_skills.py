import logging

from instructlab.config import TrainingArgs
from instructlab.run import run_training

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s %(levelname)s %(message)s")
    run_training(TrainingArgs())
    print("skills phase done, starting evaluation of the checkpoints")
