def pick(base, rows):
    config = dict(base)
    found = []
    for row in rows:
        if row.ok:
            config["row"] = row.name
            found.append(config)
            break
    for row in rows:
        config["row"] = row.name
        found.append(config)
        run(found)
        found.pop()
    return found


def run(found):
    print(found[-1]["row"])
