-- For lists by agent, in their order.
CREATE INDEX sessions_organization_id_agent_name_created_at_id_idx
  ON sessions (organization_id, agent_name, created_at DESC, id DESC) INCLUDE (user_name, status);
