"""Whole trainings on two ranks, many of them, in the time that importing torch for each would take.

python forked_trainings.py CONFIG COUNT imports all there is to import once; each rank is then a fork that
trains both stages and goes through the interpreter's whole shutdown. Prints the exit codes as JSON.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import tensorboard.summary.writer.event_file_writer  # noqa: F401
import torch._dynamo
import torch.distributed.tensor  # noqa: F401 - what torch and we import at first use

from ups import pipeline  # noqa: F401 - everything a rank will need, imported once
from ups.config import load_config
from ups.launch import rank as rank_program
from ups.run_folder import RunFolder

config_file, count = Path(sys.argv[1]), int(sys.argv[2])
codes = []
for number in range(count):
    config = load_config(config_file, [f"output.dir={config_file.parent}/run-{number}"])
    RunFolder(config.output.dir).claim(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    children = []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
            sys.exit(rank_program.run(config, ("autoencoder", "operator"), resume=False))
        children.append(child)
    codes.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
print(json.dumps(codes))
