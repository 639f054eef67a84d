-- What upkeep has made of a session: how far it was looked at, what is remembered of it, where a model's title stands. It was
-- a part of `standing`, which grew with the sessions and is written as a whole.
ALTER TABLE sessions ADD COLUMN upkeep TEXT;

-- A row here says that `standing` still has it; `upkeep.rs` moves it, since it may be encrypted.
CREATE TABLE upkeep_due (
    id INTEGER PRIMARY KEY CHECK (id = 1)
);
INSERT INTO upkeep_due SELECT 1 WHERE EXISTS (SELECT 1 FROM standing);
