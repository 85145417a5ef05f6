"""Answers that the check doubts, made of answers that it does not."""

from dataclasses import replace

from vbrand.facts.check import Check, GroupCheck


def doubted(facts):
    """Return the facts as if every novel group could be all known rows."""
    novel = facts.groups[facts.known :]
    checks = tuple(GroupCheck(group.name, group.rows, 0.4 * group.rows, (1.2, group.rows)) for group in novel)
    rows = sum(group.rows for group in novel)
    check = Check(rows, 0.4 * rows, (1.2, rows), 2.6, 1.5, 0.875, checks, 80, ("rye",))
    groups = tuple(replace(group, doubtful=group in novel) for group in facts.groups)
    return replace(facts, groups=groups, check=check)


def unchecked(facts):
    """Return the facts as if nothing had been checked."""
    return replace(facts, groups=tuple(replace(group, doubtful=False) for group in facts.groups), check=None)
