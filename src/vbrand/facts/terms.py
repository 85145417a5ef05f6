"""Words that reports and the terminal use, each explained in a sentence or two: told where they appear."""

TERMS = {
    "P(novel)": "The probability that a row belongs to none of the known classes. 0: surely known, 1: surely novel.",
    "share": (
        "The share of all rows that the model expects a group to have. It need not be the share of the rows that "
        "carry its name: rows in doubt count in part."
    ),
    "sd away": (
        "How far the middle of a group lies from the nearest known class, in standard deviations of that class, all "
        "columns together. Beside it stands how far the class's own rows usually are: a group that is no farther "
        "differs in spread or shape, or is not novel."
    ),
    "doubtful": (
        "More than half of the group's rows may be known after all: labelled rows that were hidden among the unknown "
        "ones fell where this group is."
    ),
    "likely known": (
        "How many of the rows called novel are likely of a known class after all, by labelled rows that were hidden "
        "among the unknown ones; and the interval that holds the true number with a probability of 90 %."
    ),
    "outlier group": "A novel group of very few rows: odd rows rather than a class of their own.",
    "kind": (
        "What a group is: a known class, a novel group, or an outlier group. Doubtful ones may be known after all."
    ),
    "known class": "A class that you have labelled, or a group that somebody has given a name.",
    "novel group": (
        "Rows that belong to none of the known classes and lie together. It need not be one class of the world: two "
        "that overlap may be one group, and a class of two kinds may be two."
    ),
    "standard deviations": (
        "The unit of distances from a known class: how far its rows spread in that direction, all columns together."
    ),
    "own rows": (
        "How far the rows of a known class usually lie from its middle: about the square root of the number of "
        "columns. A group that is no farther away than they are deserves doubt."
    ),
    "together with": (
        "Columns that go together, because they are correlated: their part of the distance is told of the first, and "
        "the others are named beside it."
    ),
    "mostly": "The true class that most rows of a group are of, and their share; shown where the truth is given.",
    "modes": (
        "Places about which the rows of one known class crowd. A class that has several stays one class: its rows are "
        "described by a small mixture."
    ),
    "pieces of known classes": (
        "Parts of the fit that began as new groups, until labelled rows that were hidden among the unknown ones fell "
        "there: their rows are called known."
    ),
    "bent": (
        "Columns in which classes are skewed are measured on a scale that is bent as a logarithm is, so that rows lie "
        "evenly about the middle of their class. What is told of them is in your units."
    ),
    "rounded columns": (
        "Columns whose numbers are rounded so coarsely that it matters, and to what. No group is taken to be thinner "
        "than that."
    ),
    "born": (
        "An event: a group that no earlier batch had. Beside it stands the group that most of its rows were in "
        "before, or else the known class that it is most like."
    ),
    "grown": "An event: a group, or a class that was one, has rows in this batch.",
    "merged": "An event: a group proved to be part of another one, or of a known class, which stands beside it.",
    "lost": "An event: a group is taken for a piece of a known class now, or is so small that it was given up.",
    "named": "An event: somebody said what a group is. From then on it is a known class of that name.",
    "renamed": "An event: somebody gave a known class another name.",
    "joined": "An event: somebody said that a group is part of a known class.",
    "forgotten": "An event: somebody said that a group is none. Its rows are outliers.",
    "drifted": (
        "An event: rows of a known class are not where its labelled rows were. Beside it stands how far from there "
        "they are, in standard deviations (sd)."
    ),
    "moved": "A known class has moved (drifted) if its rows are not where its labelled rows were; novel rows that pass "
    "for it look the same.",
    "threshold": "Rows with a larger P(novel) are called novel.",
    "tails": (
        "How far rows stray from their class. Student t with few degrees of freedom allows for rows far out; a "
        "Gaussian (infinitely many) does not."
    ),
    "bound": (
        "The evidence lower bound: how well the model explains the table, in nats. The search keeps a change only if "
        "the bound rises."
    ),
    "robust scales": (
        "A column minus the middle of its labelled rows, divided by how far they usually spread; strays have no say "
        "in it. So columns of different units compare."
    ),
    "principal components": (
        "The two directions along which the rows differ most, in units of the scatter within known classes."
    ),
    "t-SNE": (
        "A map that keeps neighbours together. Distances between far groups, and the sizes of groups, mean nothing."
    ),
    "weight": "What Python calls the share of a group: the share of all rows that the model expects it to have.",
    "ESS": (
        "Effective size of a sample: as many independent draws would tell as much as the draws of the sampler, which "
        "resemble the ones before them."
    ),
    "R-hat": (
        "How far the chains of the sampler disagree. 1: not at all; above 1.05 they have not seen the same, and more "
        "draws are needed."
    ),
    "ARI": (
        "Adjusted Rand index: how far two ways to group the rows agree. 1: the same groups, 0: no better than chance."
    ),
    "AMI": (
        "Adjusted mutual information: how much the groups found tell about the true ones. 1: all, 0: no more than "
        "chance."
    ),
    "FMI": (
        "Fowlkes-Mallows index: of pairs of rows that are together in one grouping, how many are in the other, too. "
        "1: all."
    ),
    "novelty F1": "How well novel rows were told from known ones: 1 if all novel rows and no others are called novel.",
    "known F1": "The same for known rows: 1 if all known rows and no others are called known.",
    "known accuracy": "The share of the rows of known classes that got their own class.",
    "false novelty": "The share of the rows of known classes that are called novel.",
}
