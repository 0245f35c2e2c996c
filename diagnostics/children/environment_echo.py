"""A rank that only says which variables reached it and its own child; standard library, no torch.

argv: a folder, then names of variables. Writes FOLDER/rank-PID.json; values of the named variables
only as digests, since they may be secrets.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def seen(names):
    """Returns the launcher's variables, and digests of the named ones that are set."""
    digests = {name: hashlib.sha256(os.environ[name].encode()).hexdigest() for name in names if name in os.environ}
    return {"launcher": {name: os.environ.get(name) for name in LAUNCHER}, "digests": digests}


def main():
    """Answers for this process, and lets a child of it answer too."""
    if sys.argv[1] == "--child":
        print(json.dumps(seen(sys.argv[2:])))
        return
    folder, names = sys.argv[1], sys.argv[2:]
    child = subprocess.run([sys.executable, __file__, "--child", *names], stdout=subprocess.PIPE, check=True)
    answer = {"rank": seen(names), "child": json.loads(child.stdout.decode())}
    Path(folder, "rank-%d.json" % os.getpid()).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
