BONEAGE_MEAN = 127.3
BONEAGE_STD = 41.2


def zscore(months):
    return (months - BONEAGE_MEAN) / BONEAGE_STD


def to_months(value):
    return value * BONEAGE_STD + BONEAGE_MEAN
