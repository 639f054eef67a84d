-- How often something was erased or deleted that may still stand on pages of the file or in the write-ahead log: SQLite
-- copies rows when it splits pages, and does not overwrite the copies. The row goes when the file was rewritten.
CREATE TABLE purges (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    n  INTEGER NOT NULL
);
-- What was erased before may still be there.
INSERT INTO purges SELECT 1, 1 WHERE EXISTS (SELECT 1 FROM entries);

-- Triggers, so that it is noted in the same transaction, also by a program that does not know this table.
CREATE TRIGGER purges_erased AFTER UPDATE OF body ON entries WHEN NEW.body IS NULL
BEGIN INSERT INTO purges VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER purges_deleted AFTER DELETE ON entries
BEGIN INSERT INTO purges VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER purges_values AFTER DELETE ON named_values
BEGIN INSERT INTO purges VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1; END;
