-- Where a scope stands in the list of the newest. The one that leads the list stays where it is however often it is
-- written to, so that an ordinary message does not change the list: `updated_at` may be ahead of `listed` for that one only.
-- The clock gets another name, so that a program which does not know the list, and is still running, cannot write.
ALTER TABLE scopes RENAME COLUMN clock TO updated_at;
ALTER TABLE scopes ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;
UPDATE scopes SET listed = updated_at;
DROP INDEX scopes_newest;
CREATE INDEX scopes_newest ON scopes (listed DESC, key);
