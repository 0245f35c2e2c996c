"""The table of an experiment: one row a quantity, each with its largest relative difference and where it is."""

from . import distances

ROWS = ("samples", "random numbers", "loss", "gradient", "clipped norm", "parameters", "buffers", "optimizer state")

LEAST_DRAWN = 16  # fewer may be the same by chance


class Table:
    """The largest difference of each quantity so far, and the first step at which it was too large."""

    def __init__(self, tolerance):
        self.tolerance = tolerance
        self.rows = {}

    def add(self, row, difference, **where):
        """Takes one measurement in."""
        if difference is None:
            return
        known = self.rows.setdefault(row, {"largest": -1.0, "first": None, "measured": 0})
        known["measured"] += 1
        if difference > known["largest"]:
            known.update(largest=difference, at=where)
        if known["first"] is None and difference > self.tolerance:
            known["first"] = {"difference": difference, **where}

    def answer(self):
        """Returns the rows that were measured, in their order."""
        return [{"row": name, **self.rows[name]} for name in ROWS if name in self.rows]


def compared(ranks, one, tolerance, floor):
    """Returns the table of N ranks against one process."""
    table = Table(tolerance)
    for step in range(min(ranks.steps, one.steps)):
        alone = one.step(0, step)
        _samples(table, ranks, one, step)
        _losses(table, ranks, alone, step)
        _random_numbers(table, ranks, step)
        for rank in range(ranks.world):
            mine = ranks.step(rank, step)
            _tensors(table, "gradient", ranks, one, step, rank, "gradients", floor)
            _norms(table, mine, alone, step, rank)
            _tensors(table, "parameters", ranks, one, step, rank, "after", floor)
            _buffers(table, mine, alone, step, rank, floor)
            _state(table, ranks, mine, alone, step, rank, floor)
    return table.answer()


def _tensors(table, row, ranks, one, step, rank, key, floor):
    mine, theirs = ranks.tensors(rank, step, key), one.tensors(0, step, key)
    found = distances.largest(mine, theirs, ranks.names(), floor)
    table.add(row, found.pop("difference"), step=step, rank=rank, **found)


def _samples(table, ranks, one, step):
    mine = [digest for rank in range(ranks.world) for digest in samples(ranks.step(rank, step))]
    theirs = samples(one.step(0, step))
    if not mine or not theirs:
        return
    missing, foreign = len(set(theirs) - set(mine)), len(set(mine) - set(theirs))
    where = {"step": step, "values": [len(mine), len(theirs)], "missing": missing, "foreign": foreign}
    table.add("samples", float(missing + foreign > 0), **where)  # repeated ones may fill up, with a weight of 0


def passes(ranks):
    """Returns for each pass over a loader which samples each rank was given, in order."""
    found = {}
    for rank in range(ranks.world):
        for step in range(ranks.steps):
            for entry in ranks.step(rank, step)["batches"]:
                key = (entry["loader"], entry["pass"])
                given = found.setdefault(key, [[] for _ in range(ranks.world)])
                given[rank].append(entry["samples"])
    return [{"loader": key[0], "pass": key[1], "batches": value} for key, value in sorted(found.items())]


def samples(step):
    """Returns the digests of the samples of one step of one process."""
    return [digest for entry in step["batches"] for digest in entry["samples"]]


def loss(step):
    """Returns the sum of what backward was called on, None where that is unknown."""
    values = [one["value"] for one in step["losses"]]
    return sum(values) if values and None not in values else None


def _losses(table, ranks, alone, step):
    found = [loss(ranks.step(rank, step)) for rank in range(ranks.world)]
    theirs = loss(alone)
    if None in found or theirs is None:
        return
    # Gradients may be averaged or added over ranks: either may be what a loop does, as long as it does it throughout.
    mean = sum(found) / len(found)
    whole = min((mean, sum(found)), key=lambda one: distances.numbers(one, theirs))
    table.add("loss", distances.numbers(whole, theirs), step=step, values=[whole, theirs], by_rank=found)


def _random_numbers(table, ranks, step):
    drawn = [ranks.draws(rank, step) for rank in range(ranks.world)]
    for place, ((name, first), *others) in enumerate(zip(*drawn)):  # noqa: B905 - strict came with 3.10
        if not first.dim() or first.numel() < LEAST_DRAWN or not _is_by_sample(name, first, ranks.step(0, step)):
            continue
        for rank, (_, other) in enumerate(others, 1):
            same = first.shape == other.shape and bool((first == other).all())
            table.add("random numbers", float(same), step=step, rank=rank, name=name, place=place)


def _is_by_sample(name, drawn, step):
    """Whether these numbers are one set a sample: others may be shared on purpose."""
    return "dropout" in name or len(drawn) == sum(entry["size"] for entry in step["batches"]) / max(
        1, len(step["losses"])
    )


def _norms(table, mine, alone, step, rank):
    for first, second in zip(mine["clips"], alone["clips"]):  # noqa: B905 - strict came with 3.10
        table.add(
            "clipped norm",
            distances.numbers(first.get("norm"), second.get("norm")),
            step=step,
            rank=rank,
            values=[first.get("norm"), second.get("norm")],
        )


def _buffers(table, mine, alone, step, rank, floor):
    names = [name for name in mine["buffers"] if name in alone["buffers"]]
    for name in names:
        found = distances.largest([mine["buffers"][name]], [alone["buffers"][name]], [name], floor)
        table.add("buffers", found.pop("difference"), step=step, rank=rank, **found)


def _state(table, ranks, mine, alone, step, rank, floor):
    if ranks.sharded:
        return
    names = [name for group in ranks.facts[rank]["names"][mine["optimizer"] : mine["optimizer"] + 1] for name in group]
    keys = sorted({key for state in [*mine["state"], *alone["state"]] for key in state})
    for key in keys:
        first, second = ([_tensor(state.get(key)) for state in side["state"]] for side in (mine, alone))
        found = distances.largest(first, second, ["%s of %s" % (key, name) for name in names], floor)
        table.add("optimizer state", found.pop("difference"), step=step, rank=rank, **found)


def _tensor(value):
    import torch

    if value is None or isinstance(value, torch.Tensor):
        return value
    return torch.tensor(float(value), dtype=torch.float64)
