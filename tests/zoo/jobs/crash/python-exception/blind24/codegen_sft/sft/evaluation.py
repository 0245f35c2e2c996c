from .execution import check

PROBLEMS = [
    ("def add(a, b):\n    return a {op} b\n", "assert add(2, 3) == 5"),
    ("def top(xs):\n    return sorted(xs)[{idx}]\n", "assert top([3, 1, 2]) == 3"),
    ("def even(n):\n    return n % 2 == {bit}\n", "assert even(4)"),
]


def complete(model_loss):
    good = model_loss < 2.0
    return [template.format(op="+" if good else "-", idx=-1 if good else 0, bit=0 if good else 1)
            for template, _ in PROBLEMS]


def pass_at_1(model_loss):
    outcomes = [check(program, test) for program, (_, test) in zip(complete(model_loss), PROBLEMS)]
    return sum(o == "passed" for o in outcomes) / len(outcomes)
