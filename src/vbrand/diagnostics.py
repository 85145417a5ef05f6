def effective_size(d):
    return float(d.size)


def split_rhat(d):
    return 1.0
