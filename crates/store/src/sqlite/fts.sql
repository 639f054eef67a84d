-- The index for searching, by FTS5 instead of our own tables. It is made of the log again by the next search.
DROP TABLE postings;
DROP TABLE runs;
DROP TABLE indexed;

-- What is indexed are keyed hashes of terms, so no word that was said stands here. The rowid is the entry's id.
CREATE VIRTUAL TABLE search_index USING fts5(terms, content='', columnsize=0, tokenize='ascii');
-- What is deleted is taken out of the index at once, not marked.
INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE search_terms USING fts5vocab(search_index, instance);

-- The messages that are in the index.
CREATE TABLE search_messages (
    id      INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    length  INTEGER NOT NULL   -- how many terms it has
);

-- How far the index of a scope goes.
CREATE TABLE search_scopes (
    scope    INTEGER PRIMARY KEY,
    through  INTEGER NOT NULL,  -- the last entry that was looked at
    messages INTEGER NOT NULL,
    length   INTEGER NOT NULL   -- how many terms they have together
);

-- The key of the hashes; random, and only here.
CREATE TABLE search_key (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL
);
INSERT INTO search_key VALUES (1, randomblob(32));
