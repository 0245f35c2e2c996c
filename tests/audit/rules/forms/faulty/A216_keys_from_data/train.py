import torch
import torch.distributed as dist


class Report:
    def __init__(self):
        self.sums = {}

    def add(self, language, value):
        self.sums[language] = self.sums.get(language, 0.0) + value

    def reduce(self):
        out = {}
        for language, value in self.sums.items():  # cause
            tensor = torch.tensor(value)
            dist.all_reduce(tensor)
            out[language] = tensor.item()
        return out


def main():
    dist.init_process_group("gloo")
    report = Report()
    rows = [("en", 1.0), ("de", 2.0), ("fr", 0.5)][dist.get_rank()::dist.get_world_size()]
    for language, value in rows:
        report.add(language, value)
    print(report.reduce())
    dist.destroy_process_group()


main()
