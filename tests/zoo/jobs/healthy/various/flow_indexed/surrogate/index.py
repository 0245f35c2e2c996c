import hashlib
import json
import time
from pathlib import Path


def build_index(folder, seconds):
    """Checksums of all files, many times over: stands for a large archive."""
    began = time.monotonic()
    index = {}
    while time.monotonic() - began < seconds:
        for path in sorted(Path(folder).glob("*.pt")):
            index[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
            time.sleep(0.01)
    Path(folder, "index.json").write_text(json.dumps(index))
