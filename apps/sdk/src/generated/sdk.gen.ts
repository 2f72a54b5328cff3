// This file is generated from openapi/openapi.json by `npm run generate`. Do not edit it.

import { Operations, type Options, type Reply } from "../operations.ts";
import type { CancelSessionData, CancelSessionResponses, CheckToolsData, CheckToolsResponses, ClaimToolCallData, ClaimToolCallResponses, CreateAgentData, CreateAgentResponses, CreateKeyData, CreateKeyResponses, CreateSessionData, CreateSessionResponses, CreateSessionTokenData, CreateSessionTokenResponses, DeleteAgentData, DeleteAgentResponses, ForceAnswerData, ForceAnswerResponses, GetAgentData, GetAgentResponses, GetHealthData, GetHealthResponses, GetReadinessData, GetReadinessResponses, GetSessionChangesData, GetSessionChangesResponses, GetSessionData, GetSessionQuotaData, GetSessionQuotaResponses, GetSessionResponses, GetSessionStatusData, GetSessionStatusResponses, GetSharedSessionData, GetSharedSessionResponses, GetSharedSessionStatusData, GetSharedSessionStatusResponses, ListAgentsData, ListAgentsResponses, ListKeysData, ListKeysResponses, ListPendingToolCallsData, ListPendingToolCallsResponses, ListSessionEventsData, ListSessionEventsResponses, ListSessionFeedbackData, ListSessionFeedbackResponses, ListSessionToolsData, ListSessionToolsResponses, ListSessionsData, ListSessionsResponses, ListSharedSessionEventsData, ListSharedSessionEventsResponses, ListToolCallsData, ListToolCallsResponses, PauseSessionData, PauseSessionResponses, ReplaceAgentData, ReplaceAgentResponses, ReplaceSessionToolsData, ReplaceSessionToolsResponses, ReportToolProgressData, ReportToolProgressResponses, ResumeSessionData, ResumeSessionResponses, RevokeKeyData, RevokeKeyResponses, SendMessageData, SendMessageResponses, ShareSessionData, ShareSessionResponses, SubmitApprovalsData, SubmitApprovalsResponses, SubmitEventFeedbackData, SubmitEventFeedbackResponses, SubmitSessionFeedbackData, SubmitSessionFeedbackResponses, SubmitToolResultsData, SubmitToolResultsResponses, UnshareSessionData, UnshareSessionResponses, UpdateAgentData, UpdateAgentResponses } from "./types.gen.ts";

export class TandemApi extends Operations {
    /**
     * Create a session
     *
     * The session starts at once; poll its changes. 404 when the named agent does not exist; 409 while another request with the same `Idempotency-Key` is under way, and when the session that it made has been deleted.
     */
    createSession(options: Options<CreateSessionData>): Promise<Reply<CreateSessionResponses>> {
        return this.request("POST", "/api/v2/sessions", options);
    }

    /**
     * List sessions
     */
    listSessions(options?: Options<ListSessionsData>): Promise<Reply<ListSessionsResponses>> {
        return this.request("GET", "/api/v2/sessions", options);
    }

    /**
     * Get a session
     */
    getSession(options: Options<GetSessionData>): Promise<Reply<GetSessionResponses>> {
        return this.request("GET", "/api/v2/sessions/{id}", options);
    }

    /**
     * Cancel a session
     *
     * Aborts a running model request and settles pending calls. Cancelling again changes nothing.
     */
    cancelSession(options: Options<CancelSessionData>): Promise<Reply<CancelSessionResponses>> {
        return this.request("DELETE", "/api/v2/sessions/{id}", options);
    }

    /**
     * Get a session's status
     */
    getSessionStatus(options: Options<GetSessionStatusData>): Promise<Reply<GetSessionStatusResponses>> {
        return this.request("GET", "/api/v2/sessions/{id}/status", options);
    }

    /**
     * Wait for changes of a session
     *
     * Answers at once when there are events from `from_index` on, or when the session has ended; else waits. 204 when nothing is new; its `ETag` is the cursor, `"N"`.
     */
    getSessionChanges(options: Options<GetSessionChangesData>): Promise<Reply<GetSessionChangesResponses>> {
        return this.request("GET", "/api/v2/sessions/{id}/changes", options);
    }

    /**
     * List a session's events
     */
    listSessionEvents(options: Options<ListSessionEventsData>): Promise<Reply<ListSessionEventsResponses>> {
        return this.request("GET", "/api/v2/sessions/{id}/events", options);
    }

    /**
     * Send messages to a session
     *
     * They enter the history before the next model call. An idle or paused session goes on, one that has ended starts again; 429 when it finds no free slot and does not queue.
     */
    sendMessage(options: Options<SendMessageData>): Promise<Reply<SendMessageResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/messages", options);
    }

    /**
     * Post results of tool calls
     *
     * One `tool_result`, one `error_event`, or a batch. The first answer to a call wins and the same again is harmless. 404 when no entry fits a call; 409 when all fitting calls were settled with other content, or when the session has ended (`code` tells them apart).
     */
    submitToolResults(options: Options<SubmitToolResultsData>): Promise<Reply<SubmitToolResultsResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/tool_results", options);
    }

    /**
     * Allow or deny tool calls
     *
     * One decision, or a batch. An allowed call joins `pending_tool_calls`; a denied one has its result, which the model sees. 404 when no decision fits a call; 409 when none could be taken, or when the session has ended.
     */
    submitApprovals(options: Options<SubmitApprovalsData>): Promise<Reply<SubmitApprovalsResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/approvals", options);
    }

    /**
     * List a session's tools and what the model is offered
     */
    listSessionTools(options: Options<ListSessionToolsData>): Promise<Reply<ListSessionToolsResponses>> {
        return this.request("GET", "/api/v2/sessions/{id}/tools", options);
    }

    /**
     * Replace a session's tools
     *
     * They count from the next model request on. A call that the model made meanwhile of a tool that is another one now is not run, and the model is told so. 409 (`calls_pending`) while calls are open.
     */
    replaceSessionTools(options: Options<ReplaceSessionToolsData>): Promise<Reply<ReplaceSessionToolsResponses>> {
        return this.request("PUT", "/api/v2/sessions/{id}/tools", options);
    }

    /**
     * List a session's tool calls
     *
     * In the order in which the model asked for them, with who settled each, when, and why.
     */
    listToolCalls(options: Options<ListToolCallsData>): Promise<Reply<ListToolCallsResponses>> {
        return this.request("GET", "/api/v2/sessions/{id}/tool_calls", options);
    }

    /**
     * Claim a tool call
     *
     * For several clients that share a session's calls. The same claimant again prolongs its claim; after its time another one may claim the call. 409 while another holds it (`call_claimed`, with `claimant`, `claimed_until` and `Retry-After`), and when the call waits for no result. Results are taken from anybody, claimed or not.
     */
    claimToolCall(options: Options<ClaimToolCallData>): Promise<Reply<ClaimToolCallResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/tool_calls/{call_id}/claim", options);
    }

    /**
     * Report progress of a pending tool call
     *
     * Any JSON; it becomes a `ToolCallProgressEvent`, and the call's time for a result begins anew. The model does not see it. 409 when the call is settled, or waits for an approval.
     */
    reportToolProgress(options: Options<ReportToolProgressData>): Promise<Reply<ReportToolProgressResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/tool_calls/{call_id}/progress", options);
    }

    /**
     * Pause a session
     *
     * At once, or when the step that runs is through, unless that ends the session. Results are taken meanwhile. Pausing again changes nothing; 409 when the session has ended.
     */
    pauseSession(options: Options<PauseSessionData>): Promise<Reply<PauseSessionResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/pause", options);
    }

    /**
     * Resume a paused session
     *
     * The session goes on where it was. A session that is not paused stays as it is; 409 when it has ended.
     */
    resumeSession(options: Options<ResumeSessionData>): Promise<Reply<ResumeSessionResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/resume", options);
    }

    /**
     * Ask for an answer now
     *
     * Pending calls are withdrawn, and the next step has no tools and must answer. Asking again changes nothing; 409 when the session has ended.
     */
    forceAnswer(options: Options<ForceAnswerData>): Promise<Reply<ForceAnswerResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/force_answer", options);
    }

    /**
     * Get the quota of active sessions
     */
    getSessionQuota(options?: Options<GetSessionQuotaData>): Promise<Reply<GetSessionQuotaResponses>> {
        return this.request("GET", "/api/v2/sessions/quota", options);
    }

    /**
     * Share a session
     *
     * Whoever has the link can read the session's events and status without a key, and nothing else. Sharing again gives the same link.
     */
    shareSession(options: Options<ShareSessionData>): Promise<Reply<ShareSessionResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/share", options);
    }

    /**
     * Stop sharing a session
     *
     * The link is 404 at once, and for good: sharing again gives another one. Revoking again changes nothing.
     */
    unshareSession(options: Options<UnshareSessionData>): Promise<Reply<UnshareSessionResponses>> {
        return this.request("DELETE", "/api/v2/sessions/{id}/share", options);
    }

    /**
     * Make a session token
     *
     * For a client that must not have an API key, such as a browser. The token reads the session's changes and status, and posts results, progress and claims for its tools; anything else is 403 `token_scope`. It ends with its time, with the session, and with the key that made it. 409 when the session's content has been removed.
     */
    createSessionToken(options: Options<CreateSessionTokenData>): Promise<Reply<CreateSessionTokenResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/tokens", options);
    }

    /**
     * Give feedback on a session
     *
     * In any state. It replaces what the same user said before, and changes nothing of the session.
     */
    submitSessionFeedback(options: Options<SubmitSessionFeedbackData>): Promise<Reply<SubmitSessionFeedbackResponses>> {
        return this.request("POST", "/api/v2/sessions/{id}/feedback", options);
    }

    /**
     * List the feedback on a session
     */
    listSessionFeedback(options: Options<ListSessionFeedbackData>): Promise<Reply<ListSessionFeedbackResponses>> {
        return this.request("GET", "/api/v2/sessions/{id}/feedback", options);
    }

    /**
     * Give feedback on an event
     *
     * It replaces what the same user said of this event before. 404 `event_not_found` when the session has no event of this index.
     */
    submitEventFeedback(options: Options<SubmitEventFeedbackData>): Promise<Reply<SubmitEventFeedbackResponses>> {
        return this.request("PUT", "/api/v2/sessions/{id}/events/{event_index}/feedback", options);
    }

    /**
     * Open a shared session
     *
     * JSON, or a page of the events for whoever's `Accept` prefers `text/html`, as browsers do.
     */
    getSharedSession(options: Options<GetSharedSessionData>): Promise<Reply<GetSharedSessionResponses>> {
        return this.request("GET", "/api/v2/shared/{token}", options);
    }

    /**
     * Get a shared session's status
     */
    getSharedSessionStatus(options: Options<GetSharedSessionStatusData>): Promise<Reply<GetSharedSessionStatusResponses>> {
        return this.request("GET", "/api/v2/shared/{token}/status", options);
    }

    /**
     * List a shared session's events
     */
    listSharedSessionEvents(options: Options<ListSharedSessionEventsData>): Promise<Reply<ListSharedSessionEventsResponses>> {
        return this.request("GET", "/api/v2/shared/{token}/events", options);
    }

    /**
     * Register an agent
     */
    createAgent(options: Options<CreateAgentData>): Promise<Reply<CreateAgentResponses>> {
        return this.request("POST", "/api/v2/agents", options);
    }

    /**
     * List agents
     */
    listAgents(options?: Options<ListAgentsData>): Promise<Reply<ListAgentsResponses>> {
        return this.request("GET", "/api/v2/agents", options);
    }

    /**
     * Get an agent
     */
    getAgent(options: Options<GetAgentData>): Promise<Reply<GetAgentResponses>> {
        return this.request("GET", "/api/v2/agents/{agent_name}", options);
    }

    /**
     * Replace an agent
     */
    replaceAgent(options: Options<ReplaceAgentData>): Promise<Reply<ReplaceAgentResponses>> {
        return this.request("PUT", "/api/v2/agents/{agent_name}", options);
    }

    /**
     * Change an agent
     */
    updateAgent(options: Options<UpdateAgentData>): Promise<Reply<UpdateAgentResponses>> {
        return this.request("PATCH", "/api/v2/agents/{agent_name}", options);
    }

    /**
     * Delete an agent
     */
    deleteAgent(options: Options<DeleteAgentData>): Promise<Reply<DeleteAgentResponses>> {
        return this.request("DELETE", "/api/v2/agents/{agent_name}", options);
    }

    /**
     * Check tool definitions
     *
     * Says for each tool whether a session with this model would take it, why not, and what the model's provider is told when that is not the schema as it was sent. 422 only for an unknown model, or a list that is too long.
     */
    checkTools(options: Options<CheckToolsData>): Promise<Reply<CheckToolsResponses>> {
        return this.request("POST", "/api/v2/tools/check", options);
    }

    /**
     * Wait for tool calls of all sessions
     *
     * Calls that wait for a result and that nobody has claimed, oldest first; those of paused sessions too, since they take results. Waits when there are none; an empty list then says that the time is up. Reading marks nothing: claim a call before running it.
     */
    listPendingToolCalls(options: Options<ListPendingToolCallsData>): Promise<Reply<ListPendingToolCallsResponses>> {
        return this.request("GET", "/api/v2/tool_calls", options);
    }

    /**
     * Make an API key
     *
     * Takes an admin key. The new key is in this reply alone.
     */
    createKey(options: Options<CreateKeyData>): Promise<Reply<CreateKeyResponses>> {
        return this.request("POST", "/api/v2/keys", options);
    }

    /**
     * List API keys
     *
     * Takes an admin key. Expired and revoked keys stay in the list.
     */
    listKeys(options?: Options<ListKeysData>): Promise<Reply<ListKeysResponses>> {
        return this.request("GET", "/api/v2/keys", options);
    }

    /**
     * Revoke an API key
     *
     * Takes an admin key, and not the one that is revoked. It ends at once here, and within ten seconds in the server's other processes.
     */
    revokeKey(options: Options<RevokeKeyData>): Promise<Reply<RevokeKeyResponses>> {
        return this.request("DELETE", "/api/v2/keys/{id}", options);
    }

    /**
     * Whether the process is up
     */
    getHealth(options?: Options<GetHealthData>): Promise<Reply<GetHealthResponses>> {
        return this.request("GET", "/healthz", options);
    }

    /**
     * Whether requests can be served
     */
    getReadiness(options?: Options<GetReadinessData>): Promise<Reply<GetReadinessResponses>> {
        return this.request("GET", "/readyz", options);
    }
}
