"""Nightly refresh of the churn models: train each segment on two processes, then publish the manifest."""
import json
import logging
import multiprocessing as mp
import time
from pathlib import Path

from jobs.churn import train_segment

log = logging.getLogger("nightly")
SEGMENTS = {"retail": 29781, "business": 29783}


class Pool:
    def __init__(self, size):
        self.size = size
        self.ctx = mp.get_context("spawn")

    def run(self, target, segment, port):
        crew = [self.ctx.Process(target=target, args=(rank, self.size, segment, port), name=f"{segment}-{rank}")
                for rank in range(self.size)]
        for process in crew:
            process.start()
        for process in crew:
            process.join()
        return time.time()


def publish(finished):
    manifest = {name: {"finished": stamp, "weights": f"models/{name}.pt"} for name, stamp in finished.items()}
    Path("manifest.json").write_text(json.dumps(manifest, indent=1))
    log.info("published %s", ", ".join(manifest))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    Path("models").mkdir(exist_ok=True)
    pool = Pool(2)
    done = {}
    for name, port in SEGMENTS.items():
        log.info("training %s", name)
        done[name] = pool.run(train_segment, name, port)
    publish(done)
