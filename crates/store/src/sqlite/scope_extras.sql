-- What a scope keeps between messages besides its sessions. What grows with its sessions and tasks has a row for each, so that a
-- change writes what it changes. It is numbers of entries, and no words. A database of an older format has all of it in
-- `extras`, until that is written the next time.
ALTER TABLE standing RENAME TO scope_extras;
ALTER TABLE scope_extras RENAME COLUMN mind TO extras;
ALTER TABLE scope_extras ADD COLUMN has_rows INTEGER NOT NULL DEFAULT 0 CHECK (has_rows IN (0, 1));
CREATE TABLE extras_rows (
    scope  INTEGER NOT NULL,
    kind   INTEGER NOT NULL,  -- 1: the last task of a session, 2: what is kept of a session's tasks,
                              -- 3: the entry that keeps what a message described, 4: what is remembered of sessions that are gone
    number INTEGER NOT NULL,  -- of the session or of the message; 0
    value  TEXT NOT NULL,
    PRIMARY KEY (scope, kind, number)
) WITHOUT ROWID;
