-- Whether a program is writing to this file, so that parts of it may stand in the write-ahead log only. The number is a random
-- one while that is so, and 0 after the last one has closed it. A file with a number and without a log beside it was copied
-- or moved while it was written, and misses what stood in the log; `log_missed` then stays 1.
CREATE TABLE in_use (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    session    INTEGER NOT NULL,
    log_missed INTEGER NOT NULL
);
INSERT INTO in_use VALUES (1, 0, 0);
