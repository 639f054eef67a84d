-- The log. An entry's id is its scope's id and its own place: scope * 2^32 + seq. One B-tree then holds the
-- entries of a scope side by side, without a second index.
CREATE TABLE entries (
    id      INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    at      INTEGER NOT NULL,  -- microseconds since 1970
    kind    INTEGER NOT NULL,
    nth     INTEGER NOT NULL,  -- messages of the segment up to here
    body    TEXT,              -- JSON; NULL once erased
    hash    BLOB               -- of an erased body
);

-- The log with its ids taken apart, for people.
CREATE VIEW log AS
    SELECT scopes.key AS scope, entries.id & 0xffffffff AS seq, segment, entries.at / 1e6 AS at, kind, body
    FROM entries JOIN scopes ON scopes.id = entries.id >> 32;

-- Everything below is folded from the log; `segue verify` folds it again and compares.

CREATE TABLE scopes (
    id             INTEGER PRIMARY KEY,
    key            TEXT NOT NULL UNIQUE,
    head           INTEGER NOT NULL,
    clock          INTEGER NOT NULL,
    next_session   INTEGER NOT NULL,
    next_segment   INTEGER NOT NULL,
    chain          BLOB NOT NULL,
    messages       INTEGER NOT NULL,
    sessions       INTEGER NOT NULL,  -- that can still be talked to
    -- the open segment, and by it the latest session
    open_segment   INTEGER,
    open_session   INTEGER,
    open_first     INTEGER,
    open_messages  INTEGER,
    open_digest    BLOB,
    opened_at      INTEGER,
    last_user_at   INTEGER,
    open_updated_at INTEGER,
    view_from      INTEGER,
    view_skips     INTEGER
);
CREATE INDEX scopes_newest ON scopes (clock DESC, key);

CREATE TABLE boundaries (
    scope INTEGER PRIMARY KEY,
    list  TEXT NOT NULL
);

CREATE TABLE segments (
    scope     INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    first     INTEGER NOT NULL,
    last      INTEGER NOT NULL,
    messages  INTEGER NOT NULL,
    digest    BLOB NOT NULL,
    sealed_at INTEGER NOT NULL,
    PRIMARY KEY (scope, number)
) WITHOUT ROWID;

CREATE TABLE sessions (
    scope         INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    id            TEXT NOT NULL,
    parent        INTEGER,
    origin        TEXT NOT NULL,
    merged_into   INTEGER,
    title         TEXT,
    title_entries TEXT NOT NULL,
    spans         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (scope, number)
) WITHOUT ROWID;

CREATE TABLE seen (
    scope      INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    PRIMARY KEY (scope, message_id)
) WITHOUT ROWID;

-- Segments whose content is to be deleted, and entries whose body is being erased.
CREATE TABLE garbage (
    scope   INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    PRIMARY KEY (scope, segment)
) WITHOUT ROWID;
CREATE TABLE erasing (id INTEGER PRIMARY KEY);

-- What was sealed stays as it is, whoever writes (M-D3).

-- Also asks whether there is such an entry: INSERT OR REPLACE takes the old row away without asking
-- another trigger.
CREATE TRIGGER entries_insert BEFORE INSERT ON entries
WHEN EXISTS (SELECT 1 FROM segments WHERE scope = NEW.id >> 32 AND number = NEW.segment)
    OR EXISTS (SELECT 1 FROM entries WHERE id = NEW.id)
BEGIN
    SELECT CASE WHEN EXISTS (SELECT 1 FROM segments WHERE scope = NEW.id >> 32 AND number = NEW.segment)
        THEN RAISE(ABORT, 'segue: the segment is sealed')
        ELSE RAISE(ABORT, 'segue: an entry is never changed') END;
END;

CREATE TRIGGER entries_update BEFORE UPDATE ON entries
WHEN NOT (
    EXISTS (SELECT 1 FROM erasing WHERE id = OLD.id)
    AND NEW.id = OLD.id AND NEW.segment = OLD.segment AND NEW.at = OLD.at AND NEW.kind = OLD.kind
    AND NEW.nth = OLD.nth AND NEW.body IS NULL AND NEW.hash IS NOT NULL
)
BEGIN SELECT RAISE(ABORT, 'segue: an entry is never changed'); END;

CREATE TRIGGER entries_delete BEFORE DELETE ON entries
WHEN NOT EXISTS (SELECT 1 FROM garbage WHERE scope = OLD.id >> 32 AND segment = OLD.segment)
    OR EXISTS (SELECT 1 FROM segments WHERE scope = OLD.id >> 32 AND number = OLD.segment)
    OR OLD.kind BETWEEN 20 AND 39
BEGIN SELECT RAISE(ABORT, 'segue: an entry is deleted with its segment only'); END;

CREATE TRIGGER segments_update BEFORE UPDATE ON segments
BEGIN SELECT RAISE(ABORT, 'segue: the segment is sealed'); END;

CREATE TRIGGER segments_insert BEFORE INSERT ON segments
WHEN EXISTS (SELECT 1 FROM segments WHERE scope = NEW.scope AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'segue: the segment is sealed'); END;

CREATE TRIGGER segments_delete BEFORE DELETE ON segments
WHEN NOT EXISTS (SELECT 1 FROM garbage WHERE scope = OLD.scope AND segment = OLD.number)
BEGIN SELECT RAISE(ABORT, 'segue: the segment is sealed'); END;
