-- An announcement that a session will go knows its entry: whether the session was used since is told by the order of the
-- log. Those that were made before get theirs from the log, which has it. Bodies of kind 42 tell what was announced.
UPDATE standing SET mind = json_set(mind, '$.retiring', json((
    SELECT json_group_object(farewell.key, json(json_set(farewell.value, '$.entry', (
        SELECT max(entries.id & 0xffffffff)
        FROM entries,
             json_each(CASE WHEN json_valid(entries.body) THEN entries.body ELSE '{}' END, '$.announced.sessions') AS going
        WHERE entries.id BETWEEN standing.scope << 32 AND (standing.scope << 32) + 0xffffffff
          AND entries.kind = 42
          AND json_extract(going.value, '$.session') = CAST(farewell.key AS INTEGER)
    ))))
    FROM json_each(standing.mind, '$.retiring') AS farewell
)))
-- A row that cannot be read is not made worse here: it is found when its scope is used.
WHERE CASE WHEN json_valid(mind) THEN json_type(mind, '$.retiring') END = 'object';
