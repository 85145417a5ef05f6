"""Model files outlive the classes that wrote them: one small step from each schema to the next.

The number in the first line of a file is its schema. It rises whenever a file is written that the version before would
refuse or misread: a part that is new and matters, renamed, moved, or of another kind. A part that is new and has a
default needs no step; a part that nobody knows is refused by its name. A step takes the tree of one schema, as the file
holds it, and returns that of the next, and knows no class, so that it never changes again.
"""

from collections.abc import Callable
from typing import Any

from vbrand.io.files.trees import WrongTreeError

Tree = dict[str, Any]


def upgraded(tree: Any, schema: int) -> Any:
    """Return the tree of a file of some schema as the present one has it."""
    for number, step in enumerate(_STEPS[schema - 1 :], start=schema):
        try:
            tree = step(tree)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise WrongTreeError(f"it does not have the parts of schema {number}") from None
    return tree


def _from_1(tree: Tree) -> Tree:
    """Return a tree of schema 2: what was learned and what was found are one part each, and kernels are values."""
    prior = _with_kernels(tree["prior"])
    before = {"components": prior["components"], "weights": prior["weights"]}

    return {
        "versions": tree["versions"],
        "settings": tree["settings"],
        "learned": {
            "classes": tree["classes"],
            "passage": {
                "names": tree["columns"],
                "kept": tree["kept"],
                "reduction": tree["reduction"],
                "coordinates": tree["coordinates"],
            },
            "views": [[_kernel(tail), known] for tail, known in tree["views"]],
        },
        "finding": {
            "chosen": tree["chosen"],
            "prior": prior,
            "posterior": before if tree["posterior"] is None else _with_kernels(tree["posterior"]),
            "meaning": tree["meaning"],
            "group_components": tree["places"],
        },
        "facts": tree["facts"],
    }


def _with_kernels(belief: Tree) -> Tree:
    """Return a prior or posterior with a kernel per component instead of its degrees of freedom."""
    components = {name: part for name, part in belief["components"].items() if name != "tail"}
    components["kernels"] = [_kernel(tail) for tail in belief["components"]["tail"].tolist()]
    return {**belief, "components": components}


def _kernel(tail: float) -> Tree:
    return {"name": "gaussian"} if tail == float("inf") else {"name": "student", "dof": float(tail)}


def _from_2(tree: Tree) -> Tree:
    """Return a tree of schema 3: what components mean is a part of its own, which a check may have refined."""
    finding = tree["finding"]
    return {**tree, "finding": {**finding, "meaning": {"class_of": finding["meaning"]}}}


def _from_3(tree: Tree) -> Tree:
    """Return a tree of schema 4: a finding may have a story, that of the batches that it rests on."""
    return {**tree, "finding": {**tree["finding"], "story": None}}


def _from_4(tree: Tree) -> Tree:
    """Return a tree of schema 5: trees are a part of what they say, for they say several things."""
    checked = tree["finding"]["meaning"].get("checked")
    rareness = None if checked is None else checked.get("rareness")
    if rareness is None:
        return tree
    trees = dict(rareness["contrast"])
    contrast = {"share": trees.pop("share"), "trees": trees}
    meaning = {**tree["finding"]["meaning"], "checked": {**checked, "rareness": {**rareness, "contrast": contrast}}}
    return {**tree, "finding": {**tree["finding"], "meaning": meaning}}


# the step from schema 1, that from schema 2, ..
_STEPS: tuple[Callable[[Tree], Tree], ...] = (_from_1, _from_2, _from_3, _from_4)
SCHEMA = 1 + len(_STEPS)
