import mlflow
from torch.utils.tensorboard import SummaryWriter


def start():
    mlflow.start_run(run_name="flow")


def log_to(folder):
    return SummaryWriter(folder)
