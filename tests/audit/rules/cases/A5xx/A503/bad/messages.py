import logging

import torch

log = logging.getLogger(__name__)


def train(batches):
    model = torch.nn.Linear(2, 1)
    for batch in batches:
        model(batch).sum().backward()


def always(batches, status):
    try:
        train(batches)
    finally:
        print("Training completed successfully")
        status.write_text("training complete")


def even_then(batches):
    try:
        train(batches)
    except RuntimeError:
        log.info("Training finished.")
