-- After its successor is there, and by itself: a lock that grows would wait for those who wait for it.
DROP INDEX tool_calls_pending_idx;
