-- Every table begins its key with the scope and is hash-partitioned by it, so that Citus or a PostgreSQL-compatible
-- distributed database can spread the tables without a change. Times are microseconds since 1970. Texts that people or
-- channels chose are bytea where they are keys: PostgreSQL's text cannot hold every character.

-- The log. Written once; see the guards below.
CREATE TABLE segue_entries (
    scope   text   NOT NULL,
    seq     bigint NOT NULL,
    segment bigint NOT NULL,
    at      bigint NOT NULL,
    kind    smallint NOT NULL,
    nth     bigint NOT NULL,           -- messages of the segment up to here
    body    text,                      -- JSON; NULL once erased
    hash    bytea,                     -- of an erased body
    PRIMARY KEY (scope, seq)
) PARTITION BY HASH (scope);

-- Everything below is folded from the log; `segue verify` folds it again and compares.

-- One row a scope, the only row besides its entries that an ordinary message changes.
CREATE TABLE segue_scopes (
    scope           text   NOT NULL,
    head            bigint NOT NULL,
    updated_at      bigint NOT NULL,
    next_session    bigint NOT NULL,
    next_segment    bigint NOT NULL,
    chain           bytea  NOT NULL,
    messages        bigint NOT NULL,
    sessions        bigint NOT NULL,   -- that are listed
    open_segment    bigint,
    open_session    bigint,
    open_first      bigint,
    open_messages   bigint,
    open_digest     bytea,
    opened_at       bigint,
    last_user_at    bigint,
    open_updated_at bigint,
    view_from       bigint,
    view_skips      bigint,
    PRIMARY KEY (scope)
) PARTITION BY HASH (scope);

CREATE TABLE segue_sessions (
    scope   text   NOT NULL,
    number  bigint NOT NULL,
    session text   NOT NULL,           -- JSON
    PRIMARY KEY (scope, number)
) PARTITION BY HASH (scope);

CREATE TABLE segue_segments (
    scope     text   NOT NULL,
    number    bigint NOT NULL,
    first     bigint NOT NULL,
    last      bigint NOT NULL,
    messages  bigint NOT NULL,
    digest    bytea  NOT NULL,
    sealed_at bigint NOT NULL,
    PRIMARY KEY (scope, number)
) PARTITION BY HASH (scope);

-- What can be undone, and what a scope keeps besides its sessions, as JSON.
CREATE TABLE segue_extras (
    scope      text NOT NULL,
    boundaries text,
    extras     text,
    PRIMARY KEY (scope)
) PARTITION BY HASH (scope);

CREATE TABLE segue_seen (
    scope      text   NOT NULL,
    message_id bytea  NOT NULL,
    seq        bigint NOT NULL,
    PRIMARY KEY (scope, message_id)
) PARTITION BY HASH (scope);

-- The appends: what `watch` reads, and how an append whose acknowledgement was lost is asked for. The position is the
-- transaction's number times 4096, plus the place of the append in its transaction: transactions are read in the order of their
-- numbers, and only once no older one can still commit.
CREATE TABLE segue_commits (
    scope     text   NOT NULL,
    after     bigint NOT NULL,
    head      bigint NOT NULL,
    append_id bytea  NOT NULL,
    position  bigint NOT NULL,
    PRIMARY KEY (scope, after)
) PARTITION BY HASH (scope);
CREATE INDEX segue_commits_position ON segue_commits (position);

-- Segments whose content is to be deleted, and entries whose body is being erased in this transaction.
CREATE TABLE segue_garbage (
    scope   text   NOT NULL,
    segment bigint NOT NULL,
    PRIMARY KEY (scope, segment)
) PARTITION BY HASH (scope);
CREATE TABLE segue_erasing (
    scope text   NOT NULL,
    seq   bigint NOT NULL,
    PRIMARY KEY (scope, seq)
) PARTITION BY HASH (scope);

-- The full-text index. Its lexemes are keyed hashes of terms, so that no word stands in it; `counts` says how often each is in
-- the message, in the order of the lexemes. A tsvector has at most a megabyte, so a long message has several parts.
CREATE TABLE segue_terms (
    scope   text     NOT NULL,
    seq     bigint   NOT NULL,
    part    bigint   NOT NULL,
    segment bigint   NOT NULL,
    length  bigint   NOT NULL,         -- terms of the whole message
    terms   tsvector NOT NULL,
    counts  bigint[] NOT NULL,
    PRIMARY KEY (scope, seq, part)
) PARTITION BY HASH (scope);

-- How far the index of a scope goes. Whoever adds to it or takes out of it locks the row.
CREATE TABLE segue_indexed (
    scope    text   NOT NULL,
    through  bigint NOT NULL,
    messages bigint NOT NULL,
    length   bigint NOT NULL,
    PRIMARY KEY (scope)
) PARTITION BY HASH (scope);

CREATE TABLE segue_embeddings (
    scope   text   NOT NULL,
    of_kind smallint NOT NULL,         -- 0 a session, 1 an entry
    of      bigint NOT NULL,
    first   bigint NOT NULL,
    last    bigint NOT NULL,
    bytes   bytea  NOT NULL,
    PRIMARY KEY (scope, of_kind, of)
) PARTITION BY HASH (scope);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['entries', 'scopes', 'sessions', 'segments', 'extras', 'seen', 'commits', 'garbage',
                                'erasing', 'terms', 'indexed', 'embeddings'] LOOP
        FOR part IN 0..15 LOOP
            EXECUTE format('CREATE TABLE segue_%s_p%s PARTITION OF segue_%s FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                           name, part, name, part);
        END LOOP;
    END LOOP;
END $$;

CREATE INDEX segue_scopes_newest ON segue_scopes (updated_at DESC, scope COLLATE "C");
CREATE INDEX segue_terms_terms ON segue_terms USING gin (terms);

-- Small named values and leases belong to no scope.
CREATE TABLE segue_values (
    namespace  bytea NOT NULL,
    key        bytea NOT NULL,
    bytes      bytea NOT NULL,
    expires_at bigint,
    PRIMARY KEY (namespace, key)
);
CREATE INDEX segue_values_expiry ON segue_values (expires_at) WHERE expires_at IS NOT NULL;
-- The key of the full-text index's hashes.
CREATE TABLE segue_index_key (
    id  smallint PRIMARY KEY CHECK (id = 1),
    key bytea NOT NULL
);
INSERT INTO segue_index_key
    VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
-- How far old commits were deleted, and what else there is one of.
CREATE TABLE segue_marks (
    name  text PRIMARY KEY,
    value bigint NOT NULL
);
CREATE TABLE segue_leases (
    name       bytea NOT NULL PRIMARY KEY,
    holder     bytea NOT NULL,
    until      bigint NOT NULL
);

-- What was sealed stays as it is, whoever writes (M-D3).

CREATE FUNCTION segue_guard_entry_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM segue_segments WHERE scope = NEW.scope AND number = NEW.segment) THEN
        RAISE EXCEPTION 'segue: the segment is sealed' USING ERRCODE = 'SG001', DETAIL = NEW.segment::text;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION segue_guard_entry_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.scope = OLD.scope AND NEW.seq = OLD.seq AND NEW.segment = OLD.segment AND NEW.at = OLD.at
        AND NEW.kind = OLD.kind AND NEW.nth = OLD.nth AND NEW.body IS NULL AND NEW.hash IS NOT NULL
        AND EXISTS (SELECT 1 FROM segue_erasing WHERE scope = OLD.scope AND seq = OLD.seq) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'segue: an entry is never changed' USING ERRCODE = 'SG002';
END $$;

CREATE FUNCTION segue_guard_entry_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM segue_garbage WHERE scope = OLD.scope AND segment = OLD.segment)
        AND NOT EXISTS (SELECT 1 FROM segue_segments WHERE scope = OLD.scope AND number = OLD.segment)
        AND OLD.kind NOT BETWEEN 20 AND 59 THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'segue: an entry is deleted with its segment only' USING ERRCODE = 'SG002';
END $$;

CREATE FUNCTION segue_guard_segment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE'
        AND EXISTS (SELECT 1 FROM segue_garbage WHERE scope = OLD.scope AND segment = OLD.number) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'segue: the segment is sealed' USING ERRCODE = 'SG001', DETAIL = OLD.number::text;
END $$;

CREATE FUNCTION segue_guard_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'segue: a log is never truncated' USING ERRCODE = 'SG002';
END $$;

CREATE TRIGGER segue_insert BEFORE INSERT ON segue_entries
    FOR EACH ROW EXECUTE FUNCTION segue_guard_entry_insert();
CREATE TRIGGER segue_update BEFORE UPDATE ON segue_entries
    FOR EACH ROW EXECUTE FUNCTION segue_guard_entry_update();
CREATE TRIGGER segue_delete BEFORE DELETE ON segue_entries
    FOR EACH ROW EXECUTE FUNCTION segue_guard_entry_delete();
CREATE TRIGGER segue_change BEFORE UPDATE OR DELETE ON segue_segments
    FOR EACH ROW EXECUTE FUNCTION segue_guard_segment();
CREATE TRIGGER segue_truncate BEFORE TRUNCATE ON segue_entries
    FOR EACH STATEMENT EXECUTE FUNCTION segue_guard_truncate();
CREATE TRIGGER segue_truncate BEFORE TRUNCATE ON segue_segments
    FOR EACH STATEMENT EXECUTE FUNCTION segue_guard_truncate();
