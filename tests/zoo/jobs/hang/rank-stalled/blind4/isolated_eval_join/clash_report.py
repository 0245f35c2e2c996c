"""Compares boxes pairwise and says which of them overlap."""


def overlaps(a, b):
    return all(a[i] < b[i + 3] and b[i] < a[i + 3] for i in range(3))


def clash_report(boxes, verbose):
    clashes = []
    for i, a in enumerate(boxes):
        for j in range(i + 1, len(boxes)):
            if overlaps(a, boxes[j]):
                entry = {"a": i, "b": j}
                if verbose:
                    entry["boxes"] = [list(a), list(boxes[j])]
                clashes.append(entry)
    return {"boxes": len(boxes), "clashes": clashes}
