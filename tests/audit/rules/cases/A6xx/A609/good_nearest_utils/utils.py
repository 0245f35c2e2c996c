import os


def set_up():
    if "SLURM_JOB_ID" in os.environ:
        os.environ["RANK"] = os.environ["SLURM_PROCID"]
