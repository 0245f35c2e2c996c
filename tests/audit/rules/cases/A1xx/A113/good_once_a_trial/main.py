import torch
import torch.distributed as dist


class Runner:
    def __init__(self, rate):
        dist.init_process_group("gloo")
        self.rate = rate

    def fit(self):
        total = torch.ones(1) * self.rate
        dist.all_reduce(total)
        return total

    def close(self):
        dist.destroy_process_group()


def main():
    for rate in [1e-4, 1e-3, 1e-2]:
        runner = Runner(rate)
        print(runner.fit())
        runner.close()


if __name__ == "__main__":
    main()
