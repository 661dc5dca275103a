"""The container of `dumps`: a header with a checksum, then a document of JSON, then the bytes of arrays.

    jaxpr\\r\\n\\0  8 bytes
    version      2 bytes, little-endian as all numbers
    length       8 bytes: of the document
    SHA-256     32 bytes: of all that follows it
    document     UTF-8
    arrays       one after another, in C order; the document tells where

Nothing is compressed, so that what is read takes no more memory than the bytes themselves.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import ml_dtypes
import numpy as np

from jaxshrink.jaxprs.errors import CorruptJaxpr

MAGIC = b"jaxpr\r\n\0"
VERSION = 2
_HEADER = struct.Struct("<8sHQ32s")

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 bfloat16 "
    "int2 int4 uint2 uint4 float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3fn float8_e4m3b11fnuz float8_e4m3fnuz "
    "float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
).split()


def dtype(name: Any) -> np.dtype:
    """An array's dtype by its name. Raises CorruptJaxpr."""
    if not isinstance(name, str) or name not in DTYPES:
        raise CorruptJaxpr(f"there is no dtype {str(name)[:40]!r}")
    found = getattr(ml_dtypes, name, None)
    return np.dtype(name if found is None else found)


def packed(document: Any, arrays: bytes) -> bytes:
    """The bytes of a document and its arrays."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(text)
    digest.update(arrays)
    return _HEADER.pack(MAGIC, VERSION, len(text), digest.digest()) + text + arrays


def unpacked(data: bytes) -> tuple[Any, memoryview]:
    """The document, and the arrays behind it. Raises CorruptJaxpr."""
    if len(data) < _HEADER.size or data[: len(MAGIC)] != MAGIC:
        raise CorruptJaxpr("these bytes are no jaxpr")
    _, version, length, digest = _HEADER.unpack_from(data)
    if version != VERSION:
        raise CorruptJaxpr(f"the jaxpr is of version {version}, and this jaxshrink reads version {VERSION}")
    rest = memoryview(data)[_HEADER.size :]
    if length > len(rest) or hashlib.sha256(rest).digest() != digest:
        raise CorruptJaxpr("the jaxpr is incomplete or was altered: its checksum is another")
    try:
        return json.loads(bytes(rest[:length]).decode("utf-8", "surrogatepass")), rest[length:]
    except (ValueError, RecursionError) as error:
        raise CorruptJaxpr(f"the document of the jaxpr is broken: {error}") from None
