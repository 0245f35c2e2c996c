import contextlib
import torch.distributed as dist


@contextlib.contextmanager
def guarded():
    try:
        yield
    except RuntimeError:
        print('failed')
        raise
