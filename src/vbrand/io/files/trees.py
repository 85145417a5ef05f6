"""Dataclasses <-> trees of plain values and arrays; what comes back has the types that its fields declare.

Nothing in a tree can name a class or a function: the reader knows what it wants and takes nothing else.
"""

from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

# of an array of text, in which all texts take the room of the longest
_MOST_LETTERS = 2**24


class WrongTreeError(ValueError):
    """A tree does not hold what is wanted."""


def tree_of(value: Any) -> Any:
    """Return a dataclass, and all in it, as dicts, lists, plain values and arrays."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: tree_of(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [tree_of(each) for each in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        return {"text": value.tolist()}
    if isinstance(value, StrEnum):
        return value.value
    return value.item() if isinstance(value, np.generic) else value


def built(kind: Any, tree: Any, where: str = "model") -> Any:
    """Return the value of a declared type that a tree holds, or say where it holds something else."""
    kind = _resolved(kind)
    if kind is Any:
        return tree

    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return _either(inner, tree, where)
    if origin is Literal:
        return _literal(inner, tree, where)
    if origin is np.ndarray:
        return _array(inner[1], tree, where)
    if origin is dict:
        return {name: built(inner[1], part, f"{where}.{name}") for name, part in built(dict, tree, where).items()}
    if origin is tuple:
        return _tuple(inner, tree, where)

    if is_dataclass(kind):
        return _dataclass(kind, tree, where)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _member(kind, tree, where)

    if kind is float and type(tree) is int and abs(tree) < 2**53:
        return float(tree)
    if type(tree) is not kind:
        raise WrongTreeError(f"{where} is no {kind.__name__}")
    if kind is str and any("\ud800" <= letter <= "\udfff" for letter in tree):
        raise WrongTreeError(f"{where} is no text")
    return tree


def _resolved(kind: Any) -> Any:
    """Return a type without the names that `type` statements give to types: NDArray of numpy 2.5 is one."""
    alias, given = get_origin(kind) or kind, get_args(kind)
    if not hasattr(alias, "__value__"):
        return kind
    value = alias.__value__
    if given:
        meant = dict(zip(alias.__type_params__, given, strict=True))
        value = value[tuple(meant[parameter] for parameter in value.__parameters__)]
    return _resolved(value)


def _dataclass(kind: Any, tree: Any, where: str) -> Any:
    """Return a dataclass; what a file of an older version does not have takes its default, if there is one."""
    if not isinstance(tree, dict):
        raise WrongTreeError(f"{where} has no parts")
    types = _types_of(kind)
    for name in sorted(set(tree) - {field.name for field in fields(kind)}):
        raise WrongTreeError(f"{where} has a part {name!r} that is not known")
    for field in fields(kind):
        if field.name not in tree and field.default is MISSING and field.default_factory is MISSING:
            raise WrongTreeError(f"{where} has no {field.name}")
    parts = {name: built(types[name], part, f"{where}.{name}") for name, part in tree.items()}
    try:
        return kind(**parts)
    except ValueError as error:  # one that looks at its values
        raise WrongTreeError(f"{where}: {error}") from None


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a dataclass; to look them up took half the time of reading a file."""
    return {name: _resolved(declared) for name, declared in get_type_hints(kind).items()}


def _member(kind: type[StrEnum], tree: Any, where: str) -> StrEnum:
    if type(tree) is not str or tree not in [member.value for member in kind]:
        raise WrongTreeError(f"{where} is none of {', '.join(kind)}")
    return kind(tree)


def _either(kinds: tuple[Any, ...], tree: Any, where: str) -> Any:
    """Return what a tree holds of several types: the one that has its name, else the first that it can be."""
    if tree is None and NoneType in kinds:
        return None

    name, named = _name_of(tree), {_name_of(kind): kind for kind in kinds if _name_of(kind) is not None}
    if name in named:
        return built(named[name], tree, where)
    if name is not None and named:
        raise WrongTreeError(f"{where} is called {name!r}, not {' or '.join(map(repr, named))}")

    complaints = list[str]()
    for kind in kinds:
        if kind is NoneType:
            continue
        try:
            return built(kind, tree, where)
        except WrongTreeError as error:
            complaints.append(str(error))
    raise WrongTreeError(", and ".join(complaints))


def _name_of(part: Any) -> str | None:
    """Return the name that a dataclass among several is known by, in a tree or as a type."""
    name = part.get("name") if isinstance(part, dict) else getattr(part, "name", None)
    return name if isinstance(name, str) else None


def _literal(values: tuple[Any, ...], tree: Any, where: str) -> Any:
    if not isinstance(tree, str) or tree not in values:
        raise WrongTreeError(f"{where} is not {' or '.join(str(value) for value in values)}")
    return tree


def _tuple(inner: tuple[Any, ...], tree: Any, where: str) -> Any:
    if not isinstance(tree, list):
        raise WrongTreeError(f"{where} is no list")
    if len(inner) == 2 and inner[1] is ...:
        return tuple(built(inner[0], each, f"{where}[{i}]") for i, each in enumerate(tree))
    if len(tree) != len(inner):
        raise WrongTreeError(f"{where} has {len(tree)} parts, not {len(inner)}")
    return tuple(built(kind, each, f"{where}[{i}]") for i, (kind, each) in enumerate(zip(inner, tree, strict=True)))


def _array(dtype: Any, tree: Any, where: str) -> Any:
    wanted = get_args(dtype)[0]  # NDArray[T] is ndarray[shape, dtype[T]]
    if wanted is Any and isinstance(tree, dict) and set(tree) == {"text"}:
        texts = built(tuple[str, ...], tree["text"], where)
        if len(texts) * max(map(len, texts), default=0) > _MOST_LETTERS:
            raise WrongTreeError(f"{where} has texts that are too long")
        return np.array(texts, dtype=str)
    if not isinstance(tree, np.ndarray) or not (wanted is Any or tree.dtype == wanted):
        raise WrongTreeError(f"{where} is no array of the right kind")
    return tree
