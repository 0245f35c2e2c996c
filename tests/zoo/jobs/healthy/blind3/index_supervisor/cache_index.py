import json
import os

from errors import RestartRequired

SCHEMA = 3


def write_index(path, schema):
    content = {"schema": schema, "rows": [[i, (i * 37) % 101] for i in range(240)]}
    tmp = f"{path}.{os.getpid()}"
    with open(tmp, "w") as handle:
        json.dump(content, handle)
    os.replace(tmp, path)


def load_index(path):
    with open(path) as handle:
        content = json.load(handle)
    if content["schema"] != SCHEMA:
        write_index(path, SCHEMA)
        raise RestartRequired(f"index had schema {content['schema']}, {SCHEMA} is written now")
    return content["rows"]
