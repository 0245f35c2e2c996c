SCHEDULE = [
    {0: "alps", 1: "andes"},
    {0: "andes", 1: "ural"},
    {0: "coast", 1: "andes"},
    {0: "ural", 1: "coast"},
]


def region_for(epoch, rank):
    return SCHEDULE[epoch % len(SCHEDULE)][rank]
