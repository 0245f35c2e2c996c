import argparse
import os
import socket
import subprocess
import sys


def read_hosts(path):
    hosts = []
    with open(path) as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                name, slots = line.split()
                hosts.append((name, int(slots.split("=")[1])))
    return hosts


class Plan:
    def __init__(self, hosts, exclude):
        self.hosts = hosts
        self.active = [h for h in hosts if h[0] not in exclude]

    def local(self):
        me = {"localhost", "127.0.0.1", socket.gethostname()}
        return [h for h in self.active if h[0] in me]

    def world(self):
        return sum(slots for _, slots in self.hosts)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hostfile", default="hosts")
    ap.add_argument("--exclude", default="")
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("script", nargs=argparse.REMAINDER)
    a = ap.parse_args()
    plan = Plan(read_hosts(a.hostfile), a.exclude.split(","))
    port = a.port
    if not port:
        with socket.socket() as s:
            s.bind(("", 0))
            port = s.getsockname()[1]
    base = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(plan.world()))
    procs, rank = [], 0
    for name, slots in plan.local():
        for local in range(slots):
            env = dict(base, RANK=str(rank), LOCAL_RANK=str(local))
            procs.append(subprocess.Popen([sys.executable, *a.script], env=env))
            rank += 1
    print(f"started {rank} of {plan.world()} on {len(plan.active)} host(s)", flush=True)
    sys.exit(max(p.wait() for p in procs))


if __name__ == "__main__":
    main()
