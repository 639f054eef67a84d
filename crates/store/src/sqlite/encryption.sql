-- The data keys of an encrypted store, wrapped by a master key that is never here: one document. Encrypted bodies, titles,
-- pins and extras are BLOBs in their TEXT columns.
CREATE TABLE keyring (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    document TEXT NOT NULL
);

-- Once there are keys nobody writes a plain body, also not a program that was started before that.
CREATE TRIGGER entries_plain BEFORE INSERT ON entries
WHEN typeof(NEW.body) = 'text' AND EXISTS (SELECT 1 FROM keyring)
BEGIN SELECT RAISE(ABORT, 'segue: the store is encrypted'); END;
