"""Start one agent a slot, as listed in cluster.yaml-like JSON; slots on drained hosts are skipped."""
import argparse
import json
import logging
import os
import subprocess
import sys
from dataclasses import dataclass

log = logging.getLogger("launch")


@dataclass(frozen=True)
class Slot:
    host: str
    index: int
    state: str


def read_inventory(path):
    with open(path) as f:
        spec = json.load(f)
    slots = [Slot(h["name"], i, h.get("state", "up")) for h in spec["hosts"] for i in range(h["slots"])]
    return spec, slots


def environment(spec, slots, position):
    env = dict(os.environ)
    env.update(MASTER_ADDR=spec["coordinator"], MASTER_PORT=str(spec["port"]),
               WORLD_SIZE=str(len(slots)), RANK=str(position), LOCAL_RANK=str(slots[position].index))
    return env


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inventory", default="inventory.json")
    parser.add_argument("script", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="launch: %(message)s")
    spec, slots = read_inventory(args.inventory)
    children = []
    for position, slot in enumerate(slots):
        if slot.state == "drained":
            log.info("skip %s/%d (%s)", slot.host, slot.index, slot.state)
            continue
        log.info("start %s/%d", slot.host, slot.index)
        children.append(subprocess.Popen([sys.executable, *args.script], env=environment(spec, slots, position)))
    codes = [child.wait() for child in children]
    sys.exit(max(abs(code) for code in codes))


if __name__ == "__main__":
    main()
