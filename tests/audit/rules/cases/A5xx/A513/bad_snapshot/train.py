from contextlib import contextmanager

import torch


@contextmanager
def memory_history(path):
    torch.cuda.memory._record_memory_history()
    try:
        yield
    except torch.OutOfMemoryError:
        torch.cuda.memory._dump_snapshot(path)


def main(trainer):
    with torch.autograd.detect_anomaly(), memory_history("oom.pickle"):
        trainer.fit()
    print("done")
