import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait

log = logging.getLogger("fleet")


class SiteError(RuntimeError):
    pass


def launch(spec):
    cmd = ["torchrun", "--standalone", "--nproc-per-node", "2", "-m", "plant.train", "--spec", json.dumps(spec)]
    code = subprocess.call(cmd)
    if code:
        raise SiteError(f"{spec['site']} ended with {code}")
    return spec["site"]


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    specs = json.load(open("sites.json"))
    with ThreadPoolExecutor(1) as pool:
        jobs = [pool.submit(launch, s) for s in specs]
        done, open_ = wait(jobs)
    log.info("%d of %d sites done, %d open", len(done), len(specs), len(open_))
    return 1 if open_ else 0


if __name__ == "__main__":
    sys.exit(main())
