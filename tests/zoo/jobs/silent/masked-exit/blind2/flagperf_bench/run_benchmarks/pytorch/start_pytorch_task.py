"""Starts one process for each device of this node and waits until all have ended."""
import argparse
import logging
import os
import socket
import subprocess
import sys
import tempfile

import yaml

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
logging.basicConfig(level=logging.INFO, format="%(asctime)s\t%(levelname)s\t%(message)s")
START_LOGGER = logging.getLogger("flagperf")


def parse_args():
    parser = argparse.ArgumentParser(description="Start pytorch training porcess.")
    parser.add_argument("--config", default=os.path.join(ROOT, "run_benchmarks/config.yaml"))
    parser.add_argument("--data_dir", default=os.path.join(ROOT, "benchmarks/ncf/data"))
    return parser.parse_args()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def build_env(config, rank, port):
    env = dict(os.environ)
    env.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(config["nproc"]),
        MASTER_ADDR=config["master_addr"], MASTER_PORT=str(port), OMP_NUM_THREADS="1",
    )
    return env


def main():
    args = parse_args()
    with open(args.config) as f:
        config = yaml.safe_load(f)
    script = os.path.join(ROOT, "benchmarks", config["case"], "run_pretraining.py")
    port, log_dir = free_port(), tempfile.mkdtemp(prefix="flagperf-")
    processes, logs = [], []
    for rank in range(config["nproc"]):
        cmd = [sys.executable, "-u", script, "--data_dir", args.data_dir,
               "--epochs", str(config["epochs"]), "--batch_size", str(config["batch_size"])]
        START_LOGGER.info("Start process: %s", " ".join(cmd[1:]))
        log = open(os.path.join(log_dir, f"rank{rank}.out.log"), "w")
        logs.append(log)
        processes.append(subprocess.Popen(cmd, env=build_env(config, rank, port), stdout=log, stderr=subprocess.STDOUT))
    for proc in processes:
        proc.wait()
    for log in logs:
        log.close()
    START_LOGGER.info("Training finished, logs are in %s", log_dir)


if __name__ == "__main__":
    main()
