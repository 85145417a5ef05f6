"""Model files taken apart and put together again, with a right checksum around whatever is in them."""

import hashlib
import json

from vbrand.estimators.schemas import SCHEMA


def forged(path, header, body=b"", schema=SCHEMA):
    """Write a file with a right checksum around any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    rest = f"header {len(text)}\n".encode() + text + body
    first = f"vbrand model {schema}\n".encode()
    digest = hashlib.sha256((first if schema > 2 else b"") + rest).hexdigest()
    path.write_bytes(first + f"sha256 {digest}\n".encode() + rest)
    return path


def taken_apart(path):
    """Return the header of a file and the bytes of its arrays."""
    _, _, third, rest = path.read_bytes().split(b"\n", 3)
    length = int(third.split()[1])
    return json.loads(rest[:length]), rest[length:]
