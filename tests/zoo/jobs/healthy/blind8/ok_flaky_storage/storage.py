import functools
import logging
import time

import torch
from torch.utils.data import Dataset

log = logging.getLogger("storage")


def retry(times, wait):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            for attempt in range(times):
                try:
                    return function(*args, **kwargs)
                except OSError:
                    if attempt == times - 1:
                        raise
                    log.warning("attempt %d failed, again in %.2f s", attempt + 1, wait * 2**attempt, exc_info=True)
                    time.sleep(wait * 2**attempt)

        return inner

    return wrap


class Bucket:
    def __init__(self):
        self.calls = {}

    @retry(times=4, wait=0.05)
    def get(self, key):
        self.calls[key] = self.calls.get(key, 0) + 1
        if key % 45 == 0 and self.calls[key] % 3:
            raise ConnectionResetError(104, "Connection reset by peer")
        return torch.randn(9, generator=torch.Generator().manual_seed(key))


class ObjectDataset(Dataset):
    def __init__(self, bucket, count):
        self.bucket, self.count = bucket, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.bucket.get(index)
