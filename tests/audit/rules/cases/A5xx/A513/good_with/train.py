"""The exit says nothing, and so lets the error go on; the decorator tries again and raises at last."""
import functools

import torch
from loguru import logger


class Run:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        print("failed" if kind else "finished")


def retried(function):
    @functools.wraps(function)
    def wrapped(*args):
        for _ in range(3):
            try:
                return function(*args)
            except Exception as error:
                print(error)
        raise RuntimeError("three times in vain")

    return wrapped


@retried
@logger.catch(reraise=True)
def train(model):
    model(torch.randn(8, 4)).mean().backward()


with Run():
    train(torch.nn.Linear(4, 1))
