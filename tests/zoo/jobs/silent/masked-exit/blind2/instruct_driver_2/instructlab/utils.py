import logging
import subprocess
import sys

log = logging.getLogger("instructlab.training")


class StreamablePopen(subprocess.Popen):
    """Runs a command and passes on its output line by line, to the terminal and to a log file."""

    def __init__(self, output_file, *args, **kwargs):
        super().__init__(*args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)
        self.output_file = output_file

    def listen(self):
        with open(self.output_file, "w") as full_log:
            for line in self.stdout:
                sys.stdout.write(line)
                sys.stdout.flush()
                full_log.write(line)
        self.wait()
