-- What a program has found out about sessions for recall, so that it need not find it out again. A session's row is gone
-- together with any message between `first` and `last`; nothing is read from it that the messages do not say.
CREATE TABLE impressions (
    scope   INTEGER NOT NULL,
    session INTEGER NOT NULL,
    first   INTEGER NOT NULL,  -- the first entry that it was made of
    last    INTEGER NOT NULL,  -- the last one
    bytes   BLOB NOT NULL,
    PRIMARY KEY (scope, session)
);
