-- The strongest lock comes first: who holds a weaker one, and waits for this one, would wait for a process that changes a
-- session it has locked, and that process for it.
DROP INDEX sessions_group_idx, sessions_parent_idx;
ALTER INDEX sessions_group_id_idx RENAME TO sessions_group_idx;
ALTER INDEX sessions_parent_id_idx RENAME TO sessions_parent_idx;
