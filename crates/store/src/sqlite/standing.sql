-- What a scope keeps in mind between messages: a question, the last rotation. Folded from the log.
CREATE TABLE standing (
    scope INTEGER PRIMARY KEY,
    mind  TEXT NOT NULL
);
