import logging

import torch

log = logging.getLogger(__name__)


def train(batches):
    model = torch.nn.Linear(2, 1)
    for batch in batches:
        model(batch).sum().backward()


def after(batches):
    try:
        train(batches)
    except RuntimeError:
        log.error("Training finished with an error")
        raise
    else:
        print("Training completed successfully")
    finally:
        print("Closing files")


def asked(batches):
    done = False
    try:
        train(batches)
        done = True
        print("Training complete")
    finally:
        if done:
            print("Training successful")
        log.info("run was not completed" if not done else "")


def reads(path):
    try:
        return torch.load(path)
    finally:
        print("model successfully looked for")
