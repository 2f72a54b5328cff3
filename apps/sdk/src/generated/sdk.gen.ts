// This file is generated from openapi/openapi.json by `npm run generate`. Do not edit it.

import type { Client, Options as Options2, TDataShape } from './client/index.ts';
import type { CancelSessionData, CancelSessionErrors, CancelSessionResponses, CheckToolsData, CheckToolsErrors, CheckToolsResponses, ClaimToolCallData, ClaimToolCallErrors, ClaimToolCallResponses, CreateAgentData, CreateAgentErrors, CreateAgentResponses, CreateKeyData, CreateKeyErrors, CreateKeyResponses, CreateSessionData, CreateSessionErrors, CreateSessionResponses, CreateSessionTokenData, CreateSessionTokenErrors, CreateSessionTokenResponses, DeleteAgentData, DeleteAgentErrors, DeleteAgentResponses, ForceAnswerData, ForceAnswerErrors, ForceAnswerResponses, GetAgentData, GetAgentErrors, GetAgentResponses, GetHealthData, GetHealthResponses, GetReadinessData, GetReadinessErrors, GetReadinessResponses, GetSessionChangesData, GetSessionChangesErrors, GetSessionChangesResponses, GetSessionData, GetSessionErrors, GetSessionQuotaData, GetSessionQuotaErrors, GetSessionQuotaResponses, GetSessionResponses, GetSessionStatusData, GetSessionStatusErrors, GetSessionStatusResponses, GetSharedSessionData, GetSharedSessionErrors, GetSharedSessionResponses, GetSharedSessionStatusData, GetSharedSessionStatusErrors, GetSharedSessionStatusResponses, ListAgentsData, ListAgentsErrors, ListAgentsResponses, ListKeysData, ListKeysErrors, ListKeysResponses, ListSessionEventsData, ListSessionEventsErrors, ListSessionEventsResponses, ListSessionFeedbackData, ListSessionFeedbackErrors, ListSessionFeedbackResponses, ListSessionsData, ListSessionsErrors, ListSessionsResponses, ListSessionToolsData, ListSessionToolsErrors, ListSessionToolsResponses, ListSharedSessionEventsData, ListSharedSessionEventsErrors, ListSharedSessionEventsResponses, ListToolCallsData, ListToolCallsErrors, ListToolCallsResponses, PauseSessionData, PauseSessionErrors, PauseSessionResponses, ReplaceAgentData, ReplaceAgentErrors, ReplaceAgentResponses, ReplaceSessionToolsData, ReplaceSessionToolsErrors, ReplaceSessionToolsResponses, ReportToolProgressData, ReportToolProgressErrors, ReportToolProgressResponses, ResumeSessionData, ResumeSessionErrors, ResumeSessionResponses, RevokeKeyData, RevokeKeyErrors, RevokeKeyResponses, SendMessageData, SendMessageErrors, SendMessageResponses, ShareSessionData, ShareSessionErrors, ShareSessionResponses, StreamSessionData, StreamSessionErrors, StreamSessionResponse, StreamSessionResponses, SubmitApprovalsData, SubmitApprovalsErrors, SubmitApprovalsResponses, SubmitEventFeedbackData, SubmitEventFeedbackErrors, SubmitEventFeedbackResponses, SubmitSessionFeedbackData, SubmitSessionFeedbackErrors, SubmitSessionFeedbackResponses, SubmitToolResultsData, SubmitToolResultsErrors, SubmitToolResultsResponses, UnshareSessionData, UnshareSessionErrors, UnshareSessionResponses, UpdateAgentData, UpdateAgentErrors, UpdateAgentResponses } from './types.gen.ts';

export type Options<TData extends TDataShape = TDataShape, ThrowOnError extends boolean = boolean, TResponse = unknown> = Options2<TData, ThrowOnError, TResponse> & {
    /**
     * You can provide a client instance returned by `createClient()` instead of
     * individual options. This might be also useful if you want to implement a
     * custom client.
     */
    client?: Client;
    /**
     * You can pass arbitrary values through the `meta` object. This can be
     * used to access values that aren't defined as part of the SDK function.
     */
    meta?: Record<string, unknown>;
};

class HeyApiClient {
    protected client: Client;
    
    constructor(args: {
        client: Client;
    }) {
        this.client = args.client;
    }
}

class HeyApiRegistry<T> {
    private readonly defaultKey = 'default';
    
    private readonly instances: Map<string, T> = new Map();
    
    get(key?: string): T {
        const instance = this.instances.get(key ?? this.defaultKey);
        if (!instance) {
            throw new Error(`No SDK client found. Create one with "new TandemApi()" to fix this error.`);
        }
        return instance;
    }
    
    set(value: T, key?: string): void {
        this.instances.set(key ?? this.defaultKey, value);
    }
}

export class TandemApi extends HeyApiClient {
    public static readonly __registry = new HeyApiRegistry<TandemApi>();
    
    constructor(args: {
        client: Client;
        key?: string;
    }) {
        super(args);
        TandemApi.__registry.set(this, args.key);
    }
    
    /**
     * List sessions
     */
    public listSessions<ThrowOnError extends boolean = true>(options?: Options<ListSessionsData, ThrowOnError>) {
        return (options?.client ?? this.client).get<ListSessionsResponses, ListSessionsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions',
            ...options
        });
    }
    
    /**
     * Create a session
     *
     * The session starts at once; poll its changes. 404 when the named agent does not exist; 409 while another request with the same `Idempotency-Key` is under way, and when the session that it made has been deleted.
     */
    public createSession<ThrowOnError extends boolean = true>(options: Options<CreateSessionData, ThrowOnError>) {
        return (options.client ?? this.client).post<CreateSessionResponses, CreateSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Cancel a session
     *
     * Aborts a running model request and settles pending calls. Cancelling again changes nothing.
     */
    public cancelSession<ThrowOnError extends boolean = true>(options: Options<CancelSessionData, ThrowOnError>) {
        return (options.client ?? this.client).delete<CancelSessionResponses, CancelSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}',
            ...options
        });
    }
    
    /**
     * Get a session
     */
    public getSession<ThrowOnError extends boolean = true>(options: Options<GetSessionData, ThrowOnError>) {
        return (options.client ?? this.client).get<GetSessionResponses, GetSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}',
            ...options
        });
    }
    
    /**
     * Get a session's status
     */
    public getSessionStatus<ThrowOnError extends boolean = true>(options: Options<GetSessionStatusData, ThrowOnError>) {
        return (options.client ?? this.client).get<GetSessionStatusResponses, GetSessionStatusErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/status',
            ...options
        });
    }
    
    /**
     * Wait for changes of a session
     *
     * Answers at once when there are events from `from_index` on, or when the session has ended; else waits. 204 when nothing is new; its `ETag` is the cursor, `"N"`.
     */
    public getSessionChanges<ThrowOnError extends boolean = true>(options: Options<GetSessionChangesData, ThrowOnError>) {
        return (options.client ?? this.client).get<GetSessionChangesResponses, GetSessionChangesErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/changes',
            ...options
        });
    }
    
    /**
     * Follow a session
     *
     * Server-sent events. Events of the session have no name, and their index as the id; `state` follows when all of them were sent; `delta` is text of the running model request, which is not stored. A comment comes every 15 s. The stream ends when the session has. 204 when it has ended and there is nothing from `from_index` on.
     */
    public streamSession<ThrowOnError extends boolean = true>(options: Options<StreamSessionData, ThrowOnError, StreamSessionResponse>) {
        return (options.client ?? this.client).sse.get<StreamSessionResponses, StreamSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/stream',
            ...options
        });
    }
    
    /**
     * List a session's events
     */
    public listSessionEvents<ThrowOnError extends boolean = true>(options: Options<ListSessionEventsData, ThrowOnError>) {
        return (options.client ?? this.client).get<ListSessionEventsResponses, ListSessionEventsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/events',
            ...options
        });
    }
    
    /**
     * Send messages to a session
     *
     * They enter the history before the next model call. An idle or paused session goes on, one that has ended starts again; 429 when it finds no free slot and does not queue.
     */
    public sendMessage<ThrowOnError extends boolean = true>(options: Options<SendMessageData, ThrowOnError>) {
        return (options.client ?? this.client).post<SendMessageResponses, SendMessageErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/messages',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Post results of tool calls
     *
     * One `tool_result`, one `error_event`, or a batch. The first answer to a call wins and the same again is harmless. 404 when no entry fits a call; 409 when all fitting calls were settled with other content, or when the session has ended (`code` tells them apart).
     */
    public submitToolResults<ThrowOnError extends boolean = true>(options: Options<SubmitToolResultsData, ThrowOnError>) {
        return (options.client ?? this.client).post<SubmitToolResultsResponses, SubmitToolResultsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/tool_results',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Allow or deny tool calls
     *
     * One decision, or a batch. An allowed call joins `pending_tool_calls`; a denied one has its result, which the model sees. 404 when no decision fits a call; 409 when none could be taken, or when the session has ended.
     */
    public submitApprovals<ThrowOnError extends boolean = true>(options: Options<SubmitApprovalsData, ThrowOnError>) {
        return (options.client ?? this.client).post<SubmitApprovalsResponses, SubmitApprovalsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/approvals',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * List a session's tools and what the model is offered
     */
    public listSessionTools<ThrowOnError extends boolean = true>(options: Options<ListSessionToolsData, ThrowOnError>) {
        return (options.client ?? this.client).get<ListSessionToolsResponses, ListSessionToolsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/tools',
            ...options
        });
    }
    
    /**
     * Replace a session's tools
     *
     * They count from the next model request on. A call that the model made meanwhile of a tool that is another one now is not run, and the model is told so. 409 (`calls_pending`) while calls are open.
     */
    public replaceSessionTools<ThrowOnError extends boolean = true>(options: Options<ReplaceSessionToolsData, ThrowOnError>) {
        return (options.client ?? this.client).put<ReplaceSessionToolsResponses, ReplaceSessionToolsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/tools',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * List a session's tool calls
     *
     * In the order in which the model asked for them, with who settled each, when, and why.
     */
    public listToolCalls<ThrowOnError extends boolean = true>(options: Options<ListToolCallsData, ThrowOnError>) {
        return (options.client ?? this.client).get<ListToolCallsResponses, ListToolCallsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/tool_calls',
            ...options
        });
    }
    
    /**
     * Claim a tool call
     *
     * For several clients that share a session's calls. The same claimant again prolongs its claim; after its time another one may claim the call. 409 while another holds it (`call_claimed`, with `claimant`, `claimed_until` and `Retry-After`), and when the call waits for no result. Results are taken from anybody, claimed or not.
     */
    public claimToolCall<ThrowOnError extends boolean = true>(options: Options<ClaimToolCallData, ThrowOnError>) {
        return (options.client ?? this.client).post<ClaimToolCallResponses, ClaimToolCallErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/tool_calls/{call_id}/claim',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Report progress of a pending tool call
     *
     * Any JSON; it becomes a `ToolCallProgressEvent`, and the call's time for a result begins anew. The model does not see it. 409 when the call is settled, or waits for an approval.
     */
    public reportToolProgress<ThrowOnError extends boolean = true>(options: Options<ReportToolProgressData, ThrowOnError>) {
        return (options.client ?? this.client).post<ReportToolProgressResponses, ReportToolProgressErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/tool_calls/{call_id}/progress',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Pause a session
     *
     * At once, or when the step that runs is through, unless that ends the session. Results are taken meanwhile. Pausing again changes nothing; 409 when the session has ended.
     */
    public pauseSession<ThrowOnError extends boolean = true>(options: Options<PauseSessionData, ThrowOnError>) {
        return (options.client ?? this.client).post<PauseSessionResponses, PauseSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/pause',
            ...options
        });
    }
    
    /**
     * Resume a paused session
     *
     * The session goes on where it was. A session that is not paused stays as it is; 409 when it has ended.
     */
    public resumeSession<ThrowOnError extends boolean = true>(options: Options<ResumeSessionData, ThrowOnError>) {
        return (options.client ?? this.client).post<ResumeSessionResponses, ResumeSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/resume',
            ...options
        });
    }
    
    /**
     * Ask for an answer now
     *
     * Pending calls are withdrawn, and the next step has no tools and must answer. Asking again changes nothing; 409 when the session has ended.
     */
    public forceAnswer<ThrowOnError extends boolean = true>(options: Options<ForceAnswerData, ThrowOnError>) {
        return (options.client ?? this.client).post<ForceAnswerResponses, ForceAnswerErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/force_answer',
            ...options
        });
    }
    
    /**
     * Get the quota of active sessions
     */
    public getSessionQuota<ThrowOnError extends boolean = true>(options?: Options<GetSessionQuotaData, ThrowOnError>) {
        return (options?.client ?? this.client).get<GetSessionQuotaResponses, GetSessionQuotaErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/quota',
            ...options
        });
    }
    
    /**
     * Stop sharing a session
     *
     * The link is 404 at once, and for good: sharing again gives another one. Revoking again changes nothing.
     */
    public unshareSession<ThrowOnError extends boolean = true>(options: Options<UnshareSessionData, ThrowOnError>) {
        return (options.client ?? this.client).delete<UnshareSessionResponses, UnshareSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/share',
            ...options
        });
    }
    
    /**
     * Share a session
     *
     * Whoever has the link can read the session's events and status without a key, and nothing else. Sharing again gives the same link.
     */
    public shareSession<ThrowOnError extends boolean = true>(options: Options<ShareSessionData, ThrowOnError>) {
        return (options.client ?? this.client).post<ShareSessionResponses, ShareSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/share',
            ...options
        });
    }
    
    /**
     * Make a session token
     *
     * For a client that must not have an API key, such as a browser. The token reads the session's changes and status, and posts results, progress and claims for its tools; anything else is 403 `token_scope`. It ends with its time, with the session, and with the key that made it. 409 when the session's content has been removed.
     */
    public createSessionToken<ThrowOnError extends boolean = true>(options: Options<CreateSessionTokenData, ThrowOnError>) {
        return (options.client ?? this.client).post<CreateSessionTokenResponses, CreateSessionTokenErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/tokens',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * List the feedback on a session
     */
    public listSessionFeedback<ThrowOnError extends boolean = true>(options: Options<ListSessionFeedbackData, ThrowOnError>) {
        return (options.client ?? this.client).get<ListSessionFeedbackResponses, ListSessionFeedbackErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/feedback',
            ...options
        });
    }
    
    /**
     * Give feedback on a session
     *
     * In any state. It replaces what the same user said before, and changes nothing of the session.
     */
    public submitSessionFeedback<ThrowOnError extends boolean = true>(options: Options<SubmitSessionFeedbackData, ThrowOnError>) {
        return (options.client ?? this.client).post<SubmitSessionFeedbackResponses, SubmitSessionFeedbackErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/feedback',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Give feedback on an event
     *
     * It replaces what the same user said of this event before. 404 `event_not_found` when the session has no event of this index.
     */
    public submitEventFeedback<ThrowOnError extends boolean = true>(options: Options<SubmitEventFeedbackData, ThrowOnError>) {
        return (options.client ?? this.client).put<SubmitEventFeedbackResponses, SubmitEventFeedbackErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/sessions/{id}/events/{event_index}/feedback',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Open a shared session
     *
     * JSON, or a page of the events for whoever's `Accept` prefers `text/html`, as browsers do.
     */
    public getSharedSession<ThrowOnError extends boolean = true>(options: Options<GetSharedSessionData, ThrowOnError>) {
        return (options.client ?? this.client).get<GetSharedSessionResponses, GetSharedSessionErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            url: '/api/v2/shared/{token}',
            ...options
        });
    }
    
    /**
     * Get a shared session's status
     */
    public getSharedSessionStatus<ThrowOnError extends boolean = true>(options: Options<GetSharedSessionStatusData, ThrowOnError>) {
        return (options.client ?? this.client).get<GetSharedSessionStatusResponses, GetSharedSessionStatusErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            url: '/api/v2/shared/{token}/status',
            ...options
        });
    }
    
    /**
     * List a shared session's events
     */
    public listSharedSessionEvents<ThrowOnError extends boolean = true>(options: Options<ListSharedSessionEventsData, ThrowOnError>) {
        return (options.client ?? this.client).get<ListSharedSessionEventsResponses, ListSharedSessionEventsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            url: '/api/v2/shared/{token}/events',
            ...options
        });
    }
    
    /**
     * List agents
     */
    public listAgents<ThrowOnError extends boolean = true>(options?: Options<ListAgentsData, ThrowOnError>) {
        return (options?.client ?? this.client).get<ListAgentsResponses, ListAgentsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/agents',
            ...options
        });
    }
    
    /**
     * Register an agent
     */
    public createAgent<ThrowOnError extends boolean = true>(options: Options<CreateAgentData, ThrowOnError>) {
        return (options.client ?? this.client).post<CreateAgentResponses, CreateAgentErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/agents',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Delete an agent
     */
    public deleteAgent<ThrowOnError extends boolean = true>(options: Options<DeleteAgentData, ThrowOnError>) {
        return (options.client ?? this.client).delete<DeleteAgentResponses, DeleteAgentErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/agents/{agent_name}',
            ...options
        });
    }
    
    /**
     * Get an agent
     */
    public getAgent<ThrowOnError extends boolean = true>(options: Options<GetAgentData, ThrowOnError>) {
        return (options.client ?? this.client).get<GetAgentResponses, GetAgentErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/agents/{agent_name}',
            ...options
        });
    }
    
    /**
     * Change an agent
     */
    public updateAgent<ThrowOnError extends boolean = true>(options: Options<UpdateAgentData, ThrowOnError>) {
        return (options.client ?? this.client).patch<UpdateAgentResponses, UpdateAgentErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/agents/{agent_name}',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Replace an agent
     */
    public replaceAgent<ThrowOnError extends boolean = true>(options: Options<ReplaceAgentData, ThrowOnError>) {
        return (options.client ?? this.client).put<ReplaceAgentResponses, ReplaceAgentErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/agents/{agent_name}',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Check tool definitions
     *
     * Says for each tool whether a session with this model would take it, why not, and what the model's provider is told when that is not the schema as it was sent. 422 only for an unknown model, or a list that is too long.
     */
    public checkTools<ThrowOnError extends boolean = true>(options: Options<CheckToolsData, ThrowOnError>) {
        return (options.client ?? this.client).post<CheckToolsResponses, CheckToolsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/tools/check',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * List API keys
     *
     * Takes an admin key. Expired and revoked keys stay in the list.
     */
    public listKeys<ThrowOnError extends boolean = true>(options?: Options<ListKeysData, ThrowOnError>) {
        return (options?.client ?? this.client).get<ListKeysResponses, ListKeysErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/keys',
            ...options
        });
    }
    
    /**
     * Make an API key
     *
     * Takes an admin key. The new key is in this reply alone.
     */
    public createKey<ThrowOnError extends boolean = true>(options: Options<CreateKeyData, ThrowOnError>) {
        return (options.client ?? this.client).post<CreateKeyResponses, CreateKeyErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/keys',
            ...options,
            headers: {
                'Content-Type': 'application/json',
                ...options.headers
            }
        });
    }
    
    /**
     * Revoke an API key
     *
     * Takes an admin key, and not the one that is revoked. It ends at once here, and within ten seconds in the server's other processes.
     */
    public revokeKey<ThrowOnError extends boolean = true>(options: Options<RevokeKeyData, ThrowOnError>) {
        return (options.client ?? this.client).delete<RevokeKeyResponses, RevokeKeyErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{ scheme: 'bearer', type: 'http' }],
            url: '/api/v2/keys/{id}',
            ...options
        });
    }
    
    /**
     * Whether the process is up
     */
    public getHealth<ThrowOnError extends boolean = true>(options?: Options<GetHealthData, ThrowOnError>) {
        return (options?.client ?? this.client).get<GetHealthResponses, unknown, ThrowOnError, 'data'>({
            responseStyle: 'data',
            url: '/healthz',
            ...options
        });
    }
    
    /**
     * Whether requests can be served
     */
    public getReadiness<ThrowOnError extends boolean = true>(options?: Options<GetReadinessData, ThrowOnError>) {
        return (options?.client ?? this.client).get<GetReadinessResponses, GetReadinessErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            url: '/readyz',
            ...options
        });
    }
}
