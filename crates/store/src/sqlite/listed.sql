-- Where a scope stands in the list of the newest. The one that leads the list stays where it is however often it is
-- written to, so that an ordinary message does not change the list: `clock` may be ahead of `listed` for that one only.
ALTER TABLE scopes ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;
UPDATE scopes SET listed = clock;
DROP INDEX scopes_newest;
CREATE INDEX scopes_newest ON scopes (listed DESC, key);
