def classes(rows):
    return {name: i for i, name in enumerate(sorted(set(row["label"] for row in rows)))}
