-- Where the words of messages stand, for searching. A word is a number of 48 bits here, so nothing that was said
-- stands in these tables. They are brought up to date by a search and not by a turn: `indexed` says how far they go.
CREATE TABLE postings (
    scope   INTEGER NOT NULL,
    term    INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    count   INTEGER NOT NULL,  -- how often the message has the term
    length  INTEGER NOT NULL,  -- how many terms the message has
    PRIMARY KEY (scope, term, seq)
) WITHOUT ROWID;

CREATE TABLE terms (
    scope    INTEGER NOT NULL,
    term     INTEGER NOT NULL,
    messages INTEGER NOT NULL,  -- that have it
    PRIMARY KEY (scope, term)
) WITHOUT ROWID;

CREATE TABLE indexed (
    scope    INTEGER PRIMARY KEY,
    through  INTEGER NOT NULL,  -- the last entry that was looked at
    messages INTEGER NOT NULL,
    length   INTEGER NOT NULL   -- how many terms they have together
);
