import type pg from "pg";

/** How much {@link loadManySessions} loads of each. */
export interface ManySessions {
  sessions: number;
  /** Owners of other organizations, with a count each. */
  otherOwners?: number;
}

/**
 * Loads sessions of the owner of the database's first key, one a second up to now, with three events each, as sessions
 * are in a database that has been in use for long: nearly all have ended, some are live, and what can be asked for is
 * there often and rarely.
 */
export async function loadManySessions(client: pg.ClientBase, many: ManySessions): Promise<void> {
  await client.query(
    `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, group_id, parent_session_id, request,
                           agent, tools, first_text, answer_text, next_index, created_at, finished_at, idle_until,
                           time_limit_at, due_at, queued_at, delete_after_min, share_token, lasting_request, purged_at)
     SELECT md5(i::text)::uuid, organization_id, user_name, status,
            CASE WHEN i % 5000 = 7 THEN 'rare' WHEN i % 3 = 0 THEN 'often' ELSE 'usual' END,
            CASE WHEN i % 10 = 0 THEN 'group-' || i / 1000 END, CASE WHEN i % 10 = 1 THEN 'parent-' || i / 1000 END,
            '{"agent":"usual"}', json_build_object('name', 'usual', 'instructions', repeat('a', 200)), '[]',
            'question ' || i, 'answer ' || i, 3, created_at, CASE WHEN has_ended THEN created_at + interval '9 s' END,
            CASE WHEN status = 'idle' THEN now() + interval '1 day' END,
            CASE WHEN status = 'awaiting_tool_results' THEN now() + interval '1 day' END,
            CASE WHEN status = 'running' THEN now() + interval '1 day' END,
            CASE WHEN status = 'queued' THEN created_at END, CASE WHEN i % 20 = 0 THEN 10000000 END,
            CASE WHEN i % 100 = 9 THEN 'token-' || i END, CASE WHEN i % 7 = 0 THEN '{}'::json END,
            CASE WHEN i % 7 = 0 AND has_ended THEN created_at + interval '70 s' END
       FROM (SELECT *, status IN ('completed', 'failed') AS has_ended, now() - ($1 - i) * interval '1 s' AS created_at
               FROM (SELECT i, CASE WHEN i % 10000 = 3 THEN 'queued' WHEN i % 300 = 0 THEN 'running'
                                      WHEN i % 300 = 1 THEN 'awaiting_tool_results' WHEN i % 300 = 2 THEN 'idle'
                                      WHEN i % 100 = 4 THEN 'failed' ELSE 'completed' END AS status
                       FROM generate_series(1, $1::int) AS i) AS numbered) AS placed,
            (SELECT organization_id, user_name FROM api_keys ORDER BY created_at LIMIT 1) AS owner`,
    [many.sessions],
  );
  await client.query(
    `INSERT INTO events (session_id, index, type, data)
     SELECT id, index, (ARRAY['RequestStartEvent', 'AgentEvent', 'AgentCompletionEvent'])[index + 1], '{"kind":"x"}'
       FROM sessions, generate_series(0, 2) AS index;
     INSERT INTO tool_calls (session_id, id, step, position, tool_name, args, state)
     SELECT id, 'call', 0, 0, 'look', '{}', CASE WHEN status = 'awaiting_tool_results' THEN 'pending' ELSE 'answered' END
       FROM sessions;
     INSERT INTO waiting_messages (session_id, message) SELECT id, '{}' FROM sessions WHERE status <> 'completed';
     INSERT INTO waiting_messages (session_id, message) SELECT id, '{}' FROM sessions WHERE status = 'completed';
     INSERT INTO feedback (session_id, event_index, user_name, success) SELECT id, -1, 'somebody', true FROM sessions;
     INSERT INTO session_tokens (session_id, api_key_id, token_hash, expires_at)
     SELECT sessions.id, api_keys.id, decode(md5(sessions.id::text), 'hex'), now() + interval '1 day'
       FROM sessions, (SELECT id FROM api_keys ORDER BY created_at LIMIT 1) AS api_keys;
     INSERT INTO idempotency_keys (organization_id, key, body_hash, session_id)
     SELECT organization_id, 'key-' || id, '', id FROM sessions`,
  );
  await client.query(
    `INSERT INTO session_counts (organization_id, user_name, count)
     SELECT gen_random_uuid(), 'somebody', 1 FROM generate_series(1, $1)`,
    [many.otherOwners ?? 0],
  );
  await client.query("VACUUM ANALYZE");
}
