-- The index for searching, anew: what stands here is made of the log by the next search. Postings are packed, and
-- written in runs: a run has what some messages in a row say, is written once, and is merged with its neighbours later.
DROP TABLE postings;
DROP TABLE terms;
DROP TABLE indexed;

CREATE TABLE indexed (
    scope    INTEGER PRIMARY KEY,
    through  INTEGER NOT NULL,  -- the last entry that was looked at
    messages INTEGER NOT NULL,
    length   INTEGER NOT NULL   -- how many terms they have together
);

CREATE TABLE runs (
    scope    INTEGER NOT NULL,
    run      INTEGER NOT NULL,  -- the entry that it begins with; it ends before the next run
    messages INTEGER NOT NULL,
    PRIMARY KEY (scope, run)
) WITHOUT ROWID;

CREATE TABLE postings (
    scope     INTEGER NOT NULL,
    run       INTEGER NOT NULL,
    term      INTEGER NOT NULL,  -- the first of some; a word is a number of 48 bits, so nothing that was said stands here
    directory BLOB NOT NULL,     -- the terms, as search/bucket.rs writes them
    places    BLOB NOT NULL,     -- where they stand, as search/packed.rs writes it
    PRIMARY KEY (scope, run, term)
) WITHOUT ROWID;
