import gzip
import io
import logging
import time
import urllib.error
import urllib.request

import numpy as np

log = logging.getLogger("fetch")


class Unreadable(Exception):
    pass


def get(url, tries=5, wait=0.1):
    for attempt in range(tries):
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return reply.read()
        except urllib.error.HTTPError as err:
            if err.code != 503 or attempt == tries - 1:
                raise
            log.warning("%s: %s, again in %.1f s", url, err, wait)
            time.sleep(wait)
            wait *= 2


def load(url):
    raw = get(url)
    try:
        return np.load(io.BytesIO(gzip.decompress(raw)))
    except (EOFError, ValueError, OSError) as err:
        raise Unreadable(url) from err
