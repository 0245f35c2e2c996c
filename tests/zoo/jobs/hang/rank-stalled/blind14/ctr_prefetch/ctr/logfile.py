"""Click logs: one text line per impression, fields separated by tabs."""
import random


def write_logs(path, rows, seed, malformed_at=None):
    rnd = random.Random(seed)
    with open(path, "w") as f:
        for i in range(rows):
            user, item = rnd.randrange(500), rnd.randrange(300)
            click = int((user * 7 + item * 13) % 10 < 3)
            hist = ",".join(str(rnd.randrange(300)) for _ in range(5))
            if i == malformed_at:
                hist = hist.replace(",", ";", 1)
            f.write(f"{user}\t{item}\t{hist}\t{click}\n")


def parse_line(line):
    user, item, hist, click = line.rstrip("\n").split("\t")
    return int(user), int(item), [int(h) for h in hist.split(",")], float(click)
