"""The file of a model: three lines of text, a JSON header, arrays.

    vbrand model <schema>
    sha256 <of the first line, from schema 3 on, and of all that follows the second>
    header <bytes of the JSON header>
    {"tree": ..., "arrays": [{"dtype": "<f8", "shape": [3, 2]}, ...]}
    <the arrays, little-endian, one after the other, to the end of the file>

There is nothing to run in it. Arrays lie end to end and must end where the file does, so reading takes about the memory
that the file takes on disk. The checksum finds accidents; it does not say who wrote the file.
"""

import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_DTYPES = ("<f8", "<f4", "<i8", "|b1")
_LONGEST_LINE = 100
# schema from which on the checksum covers the first line: before, a 3 could become a 2 or a 1 unnoticed
_SEALED = 3
_LONGEST_HEADER = 2**24
# lists and dicts of a header: each takes far more memory than its brackets
_MOST_BRACKETS = 200_000
_CHUNK = 2**20
_TOO_DEEP = 4


class ModelFileError(ValueError):
    """A file that is no model, or not a whole one."""


def write_tree(file: BinaryIO, tree: Any, schema: int) -> None:
    """Write dicts, lists, plain values and arrays, and the number of the schema that they follow."""
    arrays = list[NDArray[Any]]()
    plain = _without_arrays(tree, arrays)
    listed = [{"dtype": array.dtype.str, "shape": array.shape} for array in arrays]
    header = json.dumps({"tree": plain, "arrays": listed}).encode()
    if len(header) > _LONGEST_HEADER:
        raise ValueError(
            f"names take {len(header):,} bytes; a model file has room for {_LONGEST_HEADER:,}. Shorten them."
        )

    body: list[Any] = [
        f"header {len(header)}\n".encode(),
        header,
        *(array.data.cast("B") for array in arrays if array.size),
    ]

    digest = _digest_of(schema)
    for part in body:
        digest.update(part)
    file.write(f"vbrand model {schema}\nsha256 {digest.hexdigest()}\n".encode())
    for part in body:
        file.write(part)


def read_tree(path: Path, newest: int) -> tuple[Any, int]:
    """Return what a file holds and its schema, up to the newest that can be read, or say what is wrong with it."""
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; give the model file in it, such as {path / 'model.vbrand'}.")
    if path.exists() and not path.is_file():
        raise ModelFileError(f"{path} is not a model file of vbrand.")

    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        schema = _number_after(file, "vbrand model ", f"{path} is not a model file of vbrand.")
        if schema < 1:
            raise ModelFileError(f"{path} is not a model file of vbrand.")
        if schema > newest:
            raise ModelFileError(
                f"{path} was written by a newer vbrand (schema {schema}; this one reads up to {newest}). "
                "Upgrade vbrand to read it."
            )

        damaged = f"{path} is damaged: it was cut off or altered. Save the model again, or copy the file again."
        line = file.readline(_LONGEST_LINE)
        start = file.tell()
        if line != f"sha256 {_digest(file, schema)}\n".encode():
            raise ModelFileError(damaged)
        file.seek(start)

        length = _number_after(file, "header ", damaged)
        if length > min(size - file.tell(), _LONGEST_HEADER):
            raise ModelFileError(damaged)

        try:
            text = file.read(length)
            if text.count(b"[") + text.count(b"{") > _MOST_BRACKETS:
                raise ValueError(length)
            header = json.loads(text)
            arrays = _read_arrays(file, header["arrays"], size)
            return _with_arrays(header["tree"], arrays), schema
        except (ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError):
            raise ModelFileError(damaged) from None


def _read_arrays(file: BinaryIO, listed: Any, size: int) -> list[NDArray[Any]]:
    arrays = list[NDArray[Any]]()
    for each in listed:
        dtype, shape = each["dtype"], each["shape"]
        whole = all(type(length) is int and length >= 0 for length in shape)
        if dtype not in _DTYPES or not whole or len(shape) > _TOO_DEEP:
            raise ValueError(dtype)

        count = math.prod(shape)
        if count * np.dtype(dtype).itemsize > size - file.tell():
            raise ValueError(shape)
        array = np.empty(shape, dtype)
        if count:
            file.readinto(array.data.cast("B"))  # type: ignore[attr-defined]
        arrays.append(array)

    if file.tell() != size:
        raise ValueError(size)
    return arrays


def _without_arrays(tree: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(tree, np.ndarray):
        little = np.ascontiguousarray(tree, dtype=tree.dtype.newbyteorder("<"))
        if little.dtype.str not in _DTYPES:
            raise TypeError(f"arrays of {tree.dtype} are not kept")
        arrays.append(little.reshape(tree.shape))
        return {"array": len(arrays) - 1}
    if isinstance(tree, dict):
        return {name: _without_arrays(part, arrays) for name, part in tree.items()}
    if isinstance(tree, list | tuple):
        return [_without_arrays(part, arrays) for part in tree]
    return tree


def _with_arrays(tree: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(tree, dict):
        if set(tree) == {"array"}:
            return arrays[tree["array"]]
        return {name: _with_arrays(part, arrays) for name, part in tree.items()}
    if isinstance(tree, list):
        return [_with_arrays(part, arrays) for part in tree]
    return tree


def _digest_of(schema: int) -> "hashlib._Hash":
    """Return a checksum that has seen the first line."""
    return hashlib.sha256(f"vbrand model {schema}\n".encode() if schema >= _SEALED else b"")


def _digest(file: BinaryIO, schema: int) -> str:
    digest = _digest_of(schema)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _number_after(file: BinaryIO, words: str, otherwise: str) -> int:
    line = file.readline(_LONGEST_LINE)
    digits = line.removeprefix(words.encode()).removesuffix(b"\n")
    if not (line.startswith(words.encode()) and line.endswith(b"\n") and digits.isdigit() and len(digits) < 16):
        raise ModelFileError(otherwise)
    return int(digits)
