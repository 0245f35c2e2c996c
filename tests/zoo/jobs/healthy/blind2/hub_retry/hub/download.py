import hashlib
import logging
import os
import time
import urllib.error
import urllib.request

from hub.errors import ChecksumError, HubHTTPError

logger = logging.getLogger("hub")


def _fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as response:
            digest, payload = response.headers["X-Digest"], response.read()
    except urllib.error.HTTPError as e:
        raise HubHTTPError(e.code, url) from e
    if hashlib.sha256(payload).hexdigest() != digest:
        raise ChecksumError(f"{url}: digest does not match, got {len(payload)} bytes")
    return payload


def download(url, path, retries=5, wait=0.2):
    for attempt in range(retries):
        try:
            payload = _fetch(url)
            break
        except (HubHTTPError, ChecksumError):
            if attempt == retries - 1:
                raise
            logger.error("attempt %d of %d failed", attempt + 1, retries, exc_info=True)
            time.sleep(wait * 2**attempt)
    with open(path + ".part", "wb") as f:
        f.write(payload)
    os.replace(path + ".part", path)
    return path
