-- A log is never truncated, nor is a part of it (M-D3). Triggers for rows are handed down to partitions by PostgreSQL; those for
-- TRUNCATE are not.
DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format('CREATE TRIGGER segue_truncate BEFORE TRUNCATE ON segue_entries_p%s
                        FOR EACH STATEMENT EXECUTE FUNCTION segue_guard_truncate()', part);
        EXECUTE format('CREATE TRIGGER segue_truncate BEFORE TRUNCATE ON segue_segments_p%s
                        FOR EACH STATEMENT EXECUTE FUNCTION segue_guard_truncate()', part);
    END LOOP;
END $$;
