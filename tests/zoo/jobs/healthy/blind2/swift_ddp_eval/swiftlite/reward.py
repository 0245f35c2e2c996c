"""Scores answers by random search over programs, which cannot be split over ranks."""
import random
import time


def execute(program, value):
    for op, operand in program:
        value = value + operand if op == "+" else value * operand
        value %= 997
    return value


def search(target, paths, seconds, seed=0):
    rng = random.Random(seed)
    best, tried, start = None, 0, time.monotonic()
    while tried < paths or time.monotonic() - start < seconds:
        program = [(rng.choice("+*"), rng.randrange(1, 50)) for _ in range(rng.randrange(1, 6))]
        error = abs(execute(program, 3) - target)
        tried += 1
        if best is None or error < best[0]:
            best = (error, program)
    return {"error": best[0], "tried": tried}
