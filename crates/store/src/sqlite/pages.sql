-- Parts of long views that many sessions share: a fork refers to the spans of its parent. `sessions.spans` is a list, or
-- names the last page and lists what is behind it.
CREATE TABLE span_pages (
    scope  INTEGER NOT NULL,
    id     BLOB NOT NULL,  -- a digest of the spans and of the page before
    before BLOB,
    spans  TEXT NOT NULL,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;
