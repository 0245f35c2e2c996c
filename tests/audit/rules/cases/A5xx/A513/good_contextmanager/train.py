from contextlib import contextmanager

import torch


@contextmanager
def memory_history(path):
    try:
        yield
    except torch.OutOfMemoryError:
        torch.cuda.memory._dump_snapshot(path)
        raise


@contextmanager
def batch_left_out(counts):
    try:
        yield
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()


@contextmanager
def kept(box):
    try:
        yield
    except Exception as error:
        box.error = error


@contextmanager
def closed(file):
    try:
        yield file
    except FileNotFoundError:
        print("nothing there")
    finally:
        file.close()


def train(model, loader, optimizer, log, box):
    with memory_history("oom.pickle"), closed(log), kept(box):
        for inputs, targets in loader:
            with batch_left_out(log):
                model(inputs, targets).backward()
                optimizer.step()
    if box.error is not None:
        raise box.error
