-- Every append in the order of its commit, for `watch`, and the id of the append, so that it can be asked for.
CREATE TABLE commits (
    n         INTEGER PRIMARY KEY,  -- the position
    scope     INTEGER NOT NULL,
    after     INTEGER NOT NULL,     -- the head of the scope before it
    head      INTEGER NOT NULL,     -- and behind it
    append_id BLOB                  -- NULL for what was written before there were ids
);
INSERT INTO commits (scope, after, head) SELECT id, 0, head FROM scopes ORDER BY updated_at, id;

-- Small named values beside the log.
CREATE TABLE named_values (
    namespace  TEXT NOT NULL,
    key        TEXT NOT NULL,
    bytes      BLOB NOT NULL,
    expires_at INTEGER,             -- microseconds since 1970
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE INDEX named_values_expiring ON named_values (expires_at) WHERE expires_at IS NOT NULL;

-- Who does which piece of work, and until when.
CREATE TABLE leases (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL
) WITHOUT ROWID;

-- The list of the newest scopes is in the order of their clocks. `listed` goes, and with it programs that still write it.
DROP INDEX scopes_newest;
ALTER TABLE scopes DROP COLUMN listed;
CREATE INDEX scopes_newest ON scopes (updated_at DESC, key);

-- Embeddings of sessions and of single entries. They are gone together with any entry between `first` and `last`, also if
-- a program erases that which does not know this table.
DROP TRIGGER impressions_erased;
DROP TRIGGER impressions_dropped;
CREATE TABLE embeddings (
    scope  INTEGER NOT NULL,
    kind   INTEGER NOT NULL,  -- 0: of a session, 1: of an entry
    number INTEGER NOT NULL,  -- of the session or of the entry
    first  INTEGER NOT NULL,  -- the first entry that it was made of
    last   INTEGER NOT NULL,  -- the last one
    bytes  BLOB NOT NULL,
    PRIMARY KEY (scope, kind, number)
);
INSERT INTO embeddings SELECT scope, 0, session, first, last, bytes FROM impressions;
DROP TABLE impressions;
CREATE INDEX embeddings_of ON embeddings (scope, first, last);

CREATE TRIGGER embeddings_erased AFTER UPDATE OF body ON entries WHEN NEW.body IS NULL
BEGIN DELETE FROM embeddings
    WHERE scope = NEW.id >> 32 AND first <= NEW.id & 0xffffffff AND last >= NEW.id & 0xffffffff; END;
CREATE TRIGGER embeddings_dropped AFTER INSERT ON garbage
BEGIN DELETE FROM embeddings WHERE scope = NEW.scope AND first <= NEW.last AND last >= NEW.first; END;
