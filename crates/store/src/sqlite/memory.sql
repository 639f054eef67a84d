-- What is remembered outlives its segment, like the rest of the bones.
DROP TRIGGER entries_delete;
CREATE TRIGGER entries_delete BEFORE DELETE ON entries
WHEN NOT EXISTS (SELECT 1 FROM garbage WHERE scope = OLD.id >> 32 AND segment = OLD.segment)
    OR EXISTS (SELECT 1 FROM segments WHERE scope = OLD.id >> 32 AND number = OLD.segment)
    OR OLD.kind BETWEEN 20 AND 59
BEGIN SELECT RAISE(ABORT, 'segue: an entry is deleted with its segment only'); END;
