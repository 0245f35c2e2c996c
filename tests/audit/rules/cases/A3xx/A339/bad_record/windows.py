from dataclasses import dataclass


@dataclass
class Window:
    values: list
    name: str


def windows(series, length):
    found, values = [], []
    for name, points in series.items():
        values.clear()
        for point in points[:length]:
            values.append(point)
        found.append(Window(values, name))
    return found


def samples(texts, tokenize):
    found, tokens = [], []
    for text, label in texts:
        for word in text.split():
            tokens.extend(tokenize(word))
        found.append({"tokens": tokens, "label": label})
        tokens.clear()
    return found
