"""The text that a safetensors file carries beside its tensors."""
from __future__ import annotations

import json
import os
import pathlib
import struct
from typing import Any, Dict

from ._errors import InputError


def _split(content: bytes, path: pathlib.Path) -> "tuple[Dict[str, Any], bytes]":
    if len(content) >= 8:
        (size,) = struct.unpack("<Q", content[:8])
        if size <= len(content) - 8:
            try:
                return json.loads(content[8:8 + size]), content[8 + size:]
            except ValueError:
                pass
    raise InputError(f"{path}: is no safetensors file")


def metadata(path: pathlib.Path) -> Dict[str, str]:
    """The file's metadata."""
    header, _ = _split(path.read_bytes(), path)
    return dict(header.get("__metadata__", {}))


def add_metadata(path: pathlib.Path, more: Dict[str, str]) -> None:
    """Adds to it; the file changes whole or not at all."""
    header, tensors = _split(path.read_bytes(), path)
    header["__metadata__"] = {**header.get("__metadata__", {}), **more}
    header["__metadata__"].pop("tyche.check", None)  # the library's checksum, which no longer fits
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    beside = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    beside.write_bytes(struct.pack("<Q", len(text)) + text + tensors)
    os.replace(beside, path)
