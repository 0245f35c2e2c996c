def load(path):
    out = {}
    for line in open(path):
        line = line.split("#")[0].strip()
        if line:
            k, v = (s.strip() for s in line.split(":", 1))
            out[k] = int(v) if v.lstrip("-").isdigit() else v
    return out
