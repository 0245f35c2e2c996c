import json
import platform

import torch

from collect import probes


def environment():
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "gpu": probes.gpu_name(),
        "commit": probes.git_commit(),
        "signals": probes.sandbox_reports_signals(),
        "codes": probes.error_codes_arrive(),
    }


def show(env):
    print(json.dumps(env, indent=1), flush=True)
