-- What a program has found out about sessions for recall, so that it need not find it out again. A session's row is gone
-- together with any message between `first` and `last`, also if a program erases that which does not know this table.
CREATE TABLE impressions (
    scope   INTEGER NOT NULL,
    session INTEGER NOT NULL,
    first   INTEGER NOT NULL,  -- the first entry that it was made of
    last    INTEGER NOT NULL,  -- the last one
    bytes   BLOB NOT NULL,
    PRIMARY KEY (scope, session)
);
CREATE INDEX impressions_of ON impressions (scope, first, last);

CREATE TRIGGER impressions_erased AFTER UPDATE OF body ON entries WHEN NEW.body IS NULL
BEGIN DELETE FROM impressions
    WHERE scope = NEW.id >> 32 AND first <= NEW.id & 0xffffffff AND last >= NEW.id & 0xffffffff; END;
CREATE TRIGGER impressions_dropped AFTER INSERT ON garbage
BEGIN DELETE FROM impressions WHERE scope = NEW.scope AND first <= NEW.last AND last >= NEW.first; END;
