import threading
import time

import numpy as np


class TransientError(IOError):
    pass


class Archive:
    """Remote granules; now and then a request has to be made again, and some granules are gone."""

    def __init__(self, granules, seed):
        self.granules, self.seed = granules, seed
        self.attempts = {}
        self.lock = threading.Lock()

    def _request(self, index):
        with self.lock:
            count = self.attempts[index] = self.attempts.get(index, 0) + 1
        if index % 11 == 3 and count == 1:
            raise TransientError(f"granule {index}: 503")
        if index % 29 == 17:
            raise FileNotFoundError(f"granule {index}: 404")
        rng = np.random.default_rng((self.seed, index))
        bands = rng.standard_normal((16, 6)).astype(np.float32)
        return bands, (bands[:, 0] * 0.8 - bands[:, 3]).astype(np.float32)

    def read(self, index, tries=3):
        for attempt in range(tries):
            try:
                return self._request(index)
            except TransientError as error:
                if attempt + 1 == tries:
                    raise
                print(f"retry: {error}", flush=True)
                time.sleep(0.01)
