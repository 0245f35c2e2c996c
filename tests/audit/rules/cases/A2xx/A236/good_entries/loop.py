import torch
import torch.distributed as dist
from meters import Meters


def together(table, device):
    for row in table.values():
        pair = torch.tensor([row["value"], row["count"]], device=device)
        dist.all_reduce(pair)
        row["value"], row["count"] = pair.tolist()
    return table


def of_copies(table, device):
    found = {}
    for key, row in table.items():
        pair = torch.tensor([row["value"], row["count"]], device=device)
        dist.all_reduce(pair)
        found[key] = dict(zip(("value", "count"), pair.tolist()))
    return found


def count_of(number, device):
    number = torch.tensor(number, device=device)
    dist.all_reduce(number)
    return number.item()


def behind(model, loader, device):
    meters, table = Meters(["energy"]), {}
    for batch in loader:
        table = meters.collect(model(batch), batch, before=table)
    return together(table, device)


def of_each_batch(model, loader, device):
    meters, kept = Meters(["energy"]), []
    for batch in loader:
        table = meters.collect(model(batch), batch)
        table = together(table, device)
        kept.append(table)
    return kept


def shown(model, loader, device):
    meters, table, seen = Meters(["energy"]), {}, 0
    for batch in loader:
        table = meters.collect(model(batch), batch, before=table)
        seen += len(batch)
        print(of_copies(table, device), count_of(seen, device))
    for batch in loader:
        seen += len(batch)
        everywhere = count_of(seen, device)
        print(everywhere)


def averaged(model, loader, device):
    running = {"loss": 0.0}
    for batch in loader:
        running["loss"] = 0.9 * running["loss"] + 0.1 * model(batch).item()
        table = of_copies({"loss": {"value": running["loss"], "count": 1}}, device)
        print(table)
