-- JSON columns are `json`, not `jsonb`: they keep \u0000 and lone surrogates, which `jsonb` refuses.

CREATE TABLE organizations (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name        text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX organizations_name_key ON organizations (name);

CREATE TABLE api_keys (
  id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id  uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name             text NOT NULL,
  user_name        text NOT NULL,
  key_hash         bytea NOT NULL,
  created_at       timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX api_keys_key_hash_key ON api_keys (key_hash);

CREATE TABLE agents (
  id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id  uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name             text NOT NULL,
  description      text NOT NULL,
  definition       json NOT NULL,
  created_at       timestamptz NOT NULL DEFAULT now(),
  updated_at       timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX agents_organization_id_name_key ON agents (organization_id, name);

CREATE TABLE sessions (
  id                 uuid PRIMARY KEY,
  organization_id    uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE ON UPDATE CASCADE,
  user_name          text NOT NULL,
  status             text NOT NULL,
  agent_name         text NOT NULL,
  group_id           text,
  parent_session_id  text,
  -- The normalised request as it is shown, and what the worker runs: the resolved agent and its tools.
  request            json NOT NULL,
  agent              json NOT NULL,
  tools              json NOT NULL,
  first_message      json,
  first_text         text NOT NULL DEFAULT '',
  answer_text        text NOT NULL DEFAULT '',
  -- The number of events so far, so the next event's index. Only ever raised under this row's lock.
  next_index         integer NOT NULL DEFAULT 0,
  steps              integer NOT NULL DEFAULT 0,
  run_steps          integer NOT NULL DEFAULT 0,
  max_steps          integer,
  corrections        integer NOT NULL DEFAULT 0,
  nudges             integer NOT NULL DEFAULT 0,
  useless_steps      integer NOT NULL DEFAULT 0,
  model_failures     integer NOT NULL DEFAULT 0,
  -- Set while a step should run. It stays set while a worker holds the lease, so that a dead worker's
  -- step is found again by the sweep.
  due_at             timestamptz,
  fence              integer NOT NULL DEFAULT 0,
  -- Claims of the current step: more than one means that a worker died, or that the step kills its workers.
  claims             integer NOT NULL DEFAULT 0,
  lease_until        timestamptz,
  worker             text,
  usage              json NOT NULL DEFAULT '[]',
  answer             json,
  previous_answer    json,
  outcome            text,
  error              text,
  error_code         text,
  reason             text,
  created_at         timestamptz NOT NULL DEFAULT now(),
  started_at         timestamptz,
  finished_at        timestamptz,
  last_activity_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT sessions_status_known CHECK (status IN ('queued', 'pending', 'running', 'paused', 'idle',
    'awaiting_tool_results', 'completed', 'failed', 'timed_out', 'interrupted'))
);
CREATE INDEX sessions_organization_id_created_at_id_idx ON sessions (organization_id, created_at DESC, id DESC);
CREATE INDEX sessions_organization_id_user_name_created_at_id_idx ON sessions (organization_id, user_name, created_at DESC, id DESC);
CREATE INDEX sessions_due_idx ON sessions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sessions_group_idx ON sessions (organization_id, group_id, created_at DESC) WHERE group_id IS NOT NULL;
CREATE INDEX sessions_parent_idx ON sessions (organization_id, parent_session_id, created_at DESC) WHERE parent_session_id IS NOT NULL;

CREATE TABLE events (
  session_id  uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE ON UPDATE CASCADE,
  index       integer NOT NULL,
  type        text NOT NULL,
  data        json NOT NULL,
  -- What the model provider needs back unchanged (reasoning blocks, its own call ids). Never shown.
  internal    json,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (session_id, index)
);

CREATE TABLE tool_calls (
  session_id        uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE ON UPDATE CASCADE,
  id                text NOT NULL,
  step              integer NOT NULL,
  position          integer NOT NULL,
  tool_name         text NOT NULL,
  args              json NOT NULL,
  state             text NOT NULL DEFAULT 'pending',
  content_hash      bytea,
  created_at        timestamptz NOT NULL DEFAULT now(),
  settled_at        timestamptz,
  PRIMARY KEY (session_id, id),
  CONSTRAINT tool_calls_state_known CHECK (state IN ('pending', 'answered', 'withdrawn'))
);
CREATE INDEX tool_calls_pending_idx ON tool_calls (session_id) WHERE state = 'pending';

CREATE TABLE waiting_messages (
  id          bigserial PRIMARY KEY,
  session_id  uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE ON UPDATE CASCADE,
  message     json NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX waiting_messages_session_id_id_idx ON waiting_messages (session_id, id);
