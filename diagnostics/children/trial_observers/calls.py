"""The calls that a journal tells of: what each module took and gave in the last forward that called it."""

from . import journal


class Call:
    """One call of a module. `output` is None where it did not come to its end."""

    def __init__(self, file, line):
        self.file, self.line = file, line
        self.number, self.path = line["number"], line["enter"]
        self.output, self.mutates, self.sets = None, [], {}

    def leave(self, line):
        """Notes what the call gave."""
        self.output, self.mutates, self.sets = line["output"], line["mutates"], line["sets"]

    def given(self):
        """Returns what is stored of the inputs."""
        return journal.stored(self.file, "enter-%d" % self.number) or []

    def gave(self):
        """Returns what is stored of the outputs."""
        return journal.stored(self.file, "leave-%d" % self.number) or []


def recorded(file):
    """Returns {path: [Call, ...]} in the order of their beginning."""
    last, now, open_calls = {}, {}, {}
    for line in journal.lines(file):
        if "forward" in line:
            last, now, open_calls = {**last, **now}, {}, {}
        elif "enter" in line:
            call = open_calls[line["number"]] = Call(file, line)
            now.setdefault(call.path, []).append(call)
        elif "leave" in line and line["leave"] in open_calls:
            open_calls[line["leave"]].leave(line)
    return {**last, **now}


def next_number(file):
    """Returns the number that the next call of the file has."""
    return 1 + max((line["number"] for line in journal.lines(file) if "enter" in line), default=-1)


def alike(file):
    """Returns {path: name that modules built alike share} of the last tree."""
    trees = [line["tree"] for line in journal.lines(file) if "tree" in line]
    return {node["path"]: node["alike"] for node in trees[-1]} if trees else {}
