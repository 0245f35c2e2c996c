import torch.distributed as dist
import yaml

from eeg.fit import Fit
from eeg.telemetry import TELEMETRY, DashboardSink


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    main_rank = dist.get_rank() == 0
    if main_rank:
        options = cfg["telemetry"]
        TELEMETRY.start(DashboardSink(options["file"], options["latency"]), options["period"])
    Fit(cfg).run()
    if main_rank:
        TELEMETRY.stop()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
