"""The library starts torchrun and logs that it failed; whoever called it hears nothing."""
import logging
import subprocess

logger = logging.getLogger(__name__)


class StreamableProcess:
    def __init__(self, command, log_file):
        self.command = command
        self.log_file = log_file
        self.process = None

    def listen(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with open(self.log_file, "w") as log:
            for line in self.process.stdout:
                print(line, end="")
                log.write(line)


def run_training(args):
    command = ["torchrun", f"--nnodes={args.nnodes}", f"--nproc_per_node={args.gpus}", "train.py", f"--data={args.data}"]
    logger.info("running: %s", " ".join(command))
    process = None
    try:
        process = StreamableProcess(command, "out.log")
        process.listen()
    except KeyboardInterrupt:
        logger.info("training interrupted")
    finally:
        if process is not None and process.process.wait() != 0:  # cause
            logger.error("training subprocess has not exited yet or failed")
