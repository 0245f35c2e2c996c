import io
import random
import time

import torch


class Flaky:
    """Object storage that answers one request in five with an error and now and then slowly."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def get(self, key):
        if self.random.random() < 0.2:
            raise ConnectionResetError(f"{key}: connection reset by peer")
        if self.random.random() < 0.02:
            time.sleep(0.5)
        buffer = io.BytesIO()
        torch.save(torch.full((6,), float(key % 7)), buffer)
        data = buffer.getvalue()
        return data[:-20] if key % 31 == 0 else data


def with_retries(call, tries=6, wait=0.02):
    for n in range(tries):
        try:
            return call()
        except ConnectionError:
            if n == tries - 1:
                raise
            time.sleep(wait * 2 ** n)
