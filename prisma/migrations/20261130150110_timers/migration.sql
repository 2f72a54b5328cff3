-- After its successor is there, and by itself: a lock that grows would wait for those who wait for it.
DROP INDEX sessions_timer_idx;
