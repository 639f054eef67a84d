-- What a session is pinned to, as JSON; NULL if it is to nothing. Folded from the log.
ALTER TABLE sessions ADD COLUMN pins TEXT;
