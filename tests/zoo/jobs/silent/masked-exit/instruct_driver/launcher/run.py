import os
import subprocess
import sys


def torchrun_command(script, nproc, options):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={nproc}", script]
    for key, value in options.items():
        command.append(f"--{key.replace('_', '-')}={value}")
    return command


def run_training(script, nproc, options, log_path):
    process = None
    print("Running training command:", os.path.basename(script), options, flush=True)
    try:
        with open(log_path, "w") as log:
            process = subprocess.Popen(torchrun_command(script, nproc, options), stdout=log, stderr=subprocess.STDOUT)
            process.wait()
    except KeyboardInterrupt:
        print("Training subprocess interrupted by the user.")
    finally:
        if process is not None:
            if process.poll() == 0:
                print("Training subprocess exited successfully!")
            else:
                print("Training subprocess has not exited yet. Sending SIGTERM.")
            process.terminate()
