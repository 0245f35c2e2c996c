"""A rank that only says which variables reached it and its own child; standard library, no torch.

argv: a folder, then names of variables. Writes FOLDER/rank-PID.json; values of the named variables
only as digests, since they may be secrets.
"""

import hashlib
import json
import os
import subprocess
import sys

LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def seen(names):
    digests = {name: hashlib.sha256(os.environ[name].encode()).hexdigest() for name in names if name in os.environ}
    return {"launcher": {name: os.environ.get(name) for name in LAUNCHER}, "digests": digests}


def main():
    if sys.argv[1] == "--child":
        print(json.dumps(seen(sys.argv[2:])))
        return
    folder, names = sys.argv[1], sys.argv[2:]
    child = subprocess.run(
        [sys.executable, os.path.abspath(__file__), "--child"] + names, stdout=subprocess.PIPE, check=True
    )
    answer = {"rank": seen(names), "child": json.loads(child.stdout.decode())}
    with open(os.path.join(folder, "rank-%d.json" % os.getpid()), "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
