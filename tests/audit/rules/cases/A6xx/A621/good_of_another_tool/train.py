import yaml


def main(path):
    return yaml.safe_load(open(path))
