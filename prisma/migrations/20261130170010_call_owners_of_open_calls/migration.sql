-- Calls that are open already; settled ones are looked for by nobody. A row that somebody changes at this moment is passed
-- over: the trigger sets it. Nothing waits for anything, so that it cannot be waited for in a circle.
UPDATE tool_calls SET organization_id = sessions.organization_id
  FROM sessions, (SELECT session_id, id FROM tool_calls
                   WHERE state IN ('pending', 'awaiting_approval') AND organization_id IS NULL
                     FOR UPDATE SKIP LOCKED) AS open
 WHERE tool_calls.session_id = open.session_id AND tool_calls.id = open.id AND sessions.id = open.session_id;
