import resource


def current_bytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[0]) * resource.getpagesize()


def cap_memory(extra_mib):
    """Our share of the node: what is mapped now plus `extra_mib`."""
    limit = current_bytes() + extra_mib * 2 ** 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
