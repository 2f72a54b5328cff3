// This file is generated from openapi/openapi.json by `npm run generate`. Do not edit it.

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

/**
 * The error's code: errors of one status differ by it.
 */
export type ErrorCode = 'unauthorized' | 'admin_required' | 'token_scope' | 'not_found' | 'session_not_found' | 'event_not_found' | 'agent_not_found' | 'calls_unknown' | 'call_not_found' | 'key_not_found' | 'session_finished' | 'idempotency_in_flight' | 'session_deleted' | 'call_claimed' | 'approval_conflict' | 'calls_pending' | 'call_not_pending' | 'approval_required' | 'content_removed' | 'result_conflict' | 'agent_exists' | 'agent_read_only' | 'key_in_use' | 'body_too_large' | 'unsupported_media_type' | 'json_invalid' | 'invalid_request' | 'session_limit' | 'rate_limited' | 'unavailable' | 'internal';

export type ValidationError = {
    /**
     * The path to the field: first `body`, `query` or `path`.
     */
    loc: Array<string | number>;
    /**
     * What is wrong with the value, and what is right.
     */
    msg: string;
    /**
     * The kind of the fault.
     */
    type: string;
};

export type HttpValidationError = {
    detail: Array<ValidationError>;
    code: ErrorCode;
    /**
     * The request's id in the server's log.
     */
    request_id: string;
    [key: string]: unknown;
};

export type ErrorReply = {
    /**
     * The error in words.
     */
    detail: string;
    code: ErrorCode;
    /**
     * The request's id in the server's log.
     */
    request_id: string;
    [key: string]: unknown;
};

export type ImageContent = {
    /**
     * A URL, or the image's bytes in base64.
     */
    source: string;
    type: 'url' | 'base64';
    media_type?: string | null;
};

export type UserMessageEvent = {
    type?: 'user_message';
    /**
     * The text.
     */
    message: string;
    /**
     * Images as base64 data URIs.
     */
    images?: Array<string>;
    /**
     * Who sends it.
     */
    caller_id?: string;
};

export type UserMessageBatch = {
    type?: 'batch';
    messages: Array<UserMessageEvent>;
};

export type ToolDefinition = {
    /**
     * Letters, digits, `_` and `-`, first a letter or `_`. Unique in a session.
     */
    name: string;
    /**
     * What the tool does, for the model.
     */
    description: string;
    /**
     * JSON Schema of the arguments; its top level is an object. Missing: any object is accepted.
     */
    input_schema?: {
        [key: string]: unknown;
    };
    /**
     * A name for people.
     */
    title?: string | null;
    /**
     * `read` (the default) looks, `actuator` acts. Shown on pending calls.
     */
    capability?: 'read' | 'actuator' | null;
    /**
     * `always`: every call waits for `POST …/approvals` before it is offered. Missing: as the agent says.
     */
    approval?: 'never' | 'always' | null;
    /**
     * How long a call may wait for its approval, in seconds. Null: for ever. Missing: as the session says.
     */
    approval_timeout_s?: number | null;
    /**
     * What counts when nobody decides in time. Default `deny`.
     */
    on_approval_timeout?: 'deny' | 'allow' | null;
    /**
     * How long a call may wait for its result, in seconds; progress moves the deadline. Null: for ever. Missing: as the session says.
     */
    timeout_s?: number | null;
    /**
     * When the time is over: `error` (the default) tells the model, `fail` ends the session.
     */
    on_timeout?: 'error' | 'fail' | null;
    /**
     * After so many failures in a run the tool is offered no more. Missing: any number.
     */
    max_retries?: number | null;
    /**
     * Most tokens of a result's text that the model sees, at four characters each. The history keeps all of it.
     */
    max_result_tokens?: number | null;
    /**
     * Asks the provider for arguments that fit the schema, where it can for this schema.
     */
    strict?: boolean | null;
    /**
     * Keeps the definition out of the requests until the model has found it with `search_tools`.
     */
    defer_loading?: boolean | null;
    /**
     * Arguments of good calls, told to the model.
     */
    examples?: Array<{
        [key: string]: unknown;
    }> | null;
};

export type Skill = {
    name: string;
    description: string;
    body: string;
    source?: string | null;
    url_pattern?: string | null;
};

export type BrowserVisualMode = {
    type: 'visual';
    /**
     * In pixels.
     */
    width?: number;
    /**
     * In pixels.
     */
    height?: number;
    markdown?: boolean;
};

export type BrowserTextMode = {
    type: 'text';
    chunk_size?: number;
};

export type Browser = {
    /**
     * Defaults to the kind.
     */
    id?: string;
    kind?: 'web';
    host?: 'user_device' | 'cloud';
    start_url?: string;
    headless?: boolean;
    session_id?: string | null;
    mode?: BrowserVisualMode | BrowserTextMode;
    lazy?: boolean;
    vault_id?: string | null;
    browser_profile_id?: string | null;
    use_default_browser_profile?: boolean;
    persist_browser_profile?: boolean;
    network?: {
        [key: string]: unknown;
    } | null;
};

export type Desktop = {
    /**
     * Defaults to the kind.
     */
    id?: string;
    kind: 'desktop';
    host?: 'user_device';
    session_id?: string | null;
};

/**
 * A kind that this server does not know.
 */
export type OtherEnvironment = {
    /**
     * Defaults to the kind.
     */
    id?: string;
    kind: string;
    [key: string]: unknown;
};

/**
 * An environment. This server provides none; sessions say so in their events and go on.
 */
export type Environment = Browser | Desktop | OtherEnvironment;

/**
 * An agent. In a session's request only the name is required.
 */
export type Agent = {
    /**
     * Lowercase letters, digits and hyphens; at most one `prefix/`.
     */
    name: string;
    /**
     * What the agent is for.
     */
    description?: string;
    /**
     * Names of registered environments, or definitions.
     */
    environments?: Array<string | Environment>;
    /**
     * `provider/model`; null takes the server's default.
     */
    model?: string | null;
    /**
     * What the agent is told before the messages.
     */
    instructions?: string | null;
    /**
     * Names of registered agents, or definitions.
     */
    subagents?: Array<string | Agent> | null;
    skills?: Array<string | Skill> | null;
    /**
     * JSON Schema that the final answer must fit.
     */
    answer_format?: {
        [key: string]: unknown;
    } | null;
    /**
     * Tools that run in the caller's process.
     */
    tools?: Array<ToolDefinition> | null;
    /**
     * Which of its tools need approval that do not say: none (`never`, the default), those with the capability `actuator`, or all (`always`).
     */
    approval?: 'never' | 'actuator' | 'always' | null;
    /**
     * The whole system prompt, byte for byte, in place of ours and of the instructions. Empty: there is none.
     */
    system_prompt?: string | null;
    /**
     * False offers the model nothing but the caller's tools. Default true.
     */
    builtins?: boolean | null;
    /**
     * For the first step of a run: `auto` (the default), `required` (some tool must be called), or the name of a tool.
     */
    tool_choice?: string | null;
    /**
     * Removes the session's content 60 s after its end; what remains is its status. Default false.
     */
    ephemeral?: boolean | null;
    /**
     * Who decides on calls that need approval: `ask` (the default) waits for `POST …/approvals`, `host` leaves it to the caller's handler, and no approval is asked.
     */
    permissions?: 'ask' | 'host' | null;
    /**
     * Makes every model request a stream, so that whoever comes to `GET …/stream` sees its text from the beginning. Without it a request is one when somebody reads the stream as its step begins. Default false.
     */
    stream?: boolean | null;
    /**
     * How long a call may wait for its result, in seconds, where its tool does not say. Null: for ever, the default.
     */
    tool_timeout_s?: number | null;
    /**
     * How long a call may wait for its approval, in seconds, where its tool does not say. Null: for ever, the default.
     */
    approval_timeout_s?: number | null;
};

export type NewAgent = {
    /**
     * Lowercase letters, digits and hyphens; at most one `prefix/`.
     */
    name: string;
    /**
     * What the agent is for.
     */
    description: string;
    /**
     * Names of registered environments, or definitions.
     */
    environments?: Array<string | Environment>;
    /**
     * `provider/model`; null takes the server's default.
     */
    model?: string | null;
    /**
     * What the agent is told before the messages.
     */
    instructions?: string | null;
    /**
     * Names of registered agents, or definitions.
     */
    subagents?: Array<string | Agent> | null;
    skills?: Array<string | Skill> | null;
    /**
     * JSON Schema that the final answer must fit.
     */
    answer_format?: {
        [key: string]: unknown;
    } | null;
    /**
     * Tools that run in the caller's process.
     */
    tools?: Array<ToolDefinition> | null;
    /**
     * Which of its tools need approval that do not say: none (`never`, the default), those with the capability `actuator`, or all (`always`).
     */
    approval?: 'never' | 'actuator' | 'always' | null;
    /**
     * The whole system prompt, byte for byte, in place of ours and of the instructions. Empty: there is none.
     */
    system_prompt?: string | null;
    /**
     * False offers the model nothing but the caller's tools. Default true.
     */
    builtins?: boolean | null;
    /**
     * For the first step of a run: `auto` (the default), `required` (some tool must be called), or the name of a tool.
     */
    tool_choice?: string | null;
    /**
     * Removes the session's content 60 s after its end; what remains is its status. Default false.
     */
    ephemeral?: boolean | null;
    /**
     * Who decides on calls that need approval: `ask` (the default) waits for `POST …/approvals`, `host` leaves it to the caller's handler, and no approval is asked.
     */
    permissions?: 'ask' | 'host' | null;
    /**
     * Makes every model request a stream, so that whoever comes to `GET …/stream` sees its text from the beginning. Without it a request is one when somebody reads the stream as its step begins. Default false.
     */
    stream?: boolean | null;
    /**
     * How long a call may wait for its result, in seconds, where its tool does not say. Null: for ever, the default.
     */
    tool_timeout_s?: number | null;
    /**
     * How long a call may wait for its approval, in seconds, where its tool does not say. Null: for ever, the default.
     */
    approval_timeout_s?: number | null;
};

export type StoredAgent = {
    /**
     * Lowercase letters, digits and hyphens; at most one `prefix/`.
     */
    name: string;
    /**
     * What the agent is for.
     */
    description: string;
    /**
     * Names of registered environments, or definitions.
     */
    environments: Array<string | Environment>;
    /**
     * `provider/model`; null takes the server's default.
     */
    model?: string | null;
    /**
     * What the agent is told before the messages.
     */
    instructions?: string | null;
    /**
     * Names of registered agents, or definitions.
     */
    subagents?: Array<string | Agent> | null;
    skills?: Array<string | Skill> | null;
    /**
     * JSON Schema that the final answer must fit.
     */
    answer_format?: {
        [key: string]: unknown;
    } | null;
    /**
     * Tools that run in the caller's process.
     */
    tools?: Array<ToolDefinition> | null;
    /**
     * Which of its tools need approval that do not say: none (`never`, the default), those with the capability `actuator`, or all (`always`).
     */
    approval?: 'never' | 'actuator' | 'always' | null;
    /**
     * The whole system prompt, byte for byte, in place of ours and of the instructions. Empty: there is none.
     */
    system_prompt?: string | null;
    /**
     * False offers the model nothing but the caller's tools. Default true.
     */
    builtins?: boolean | null;
    /**
     * For the first step of a run: `auto` (the default), `required` (some tool must be called), or the name of a tool.
     */
    tool_choice?: string | null;
    /**
     * Removes the session's content 60 s after its end; what remains is its status. Default false.
     */
    ephemeral?: boolean | null;
    /**
     * Who decides on calls that need approval: `ask` (the default) waits for `POST …/approvals`, `host` leaves it to the caller's handler, and no approval is asked.
     */
    permissions?: 'ask' | 'host' | null;
    /**
     * Makes every model request a stream, so that whoever comes to `GET …/stream` sees its text from the beginning. Without it a request is one when somebody reads the stream as its step begins. Default false.
     */
    stream?: boolean | null;
    /**
     * How long a call may wait for its result, in seconds, where its tool does not say. Null: for ever, the default.
     */
    tool_timeout_s?: number | null;
    /**
     * How long a call may wait for its approval, in seconds, where its tool does not say. Null: for ever, the default.
     */
    approval_timeout_s?: number | null;
};

export type PatchAgent = {
    description?: string | null;
    environments?: Array<string | Environment> | null;
    /**
     * `provider/model`; null takes the server's default.
     */
    model?: string | null;
    /**
     * What the agent is told before the messages.
     */
    instructions?: string | null;
    /**
     * Names of registered agents, or definitions.
     */
    subagents?: Array<string | Agent> | null;
    skills?: Array<string | Skill> | null;
    /**
     * JSON Schema that the final answer must fit.
     */
    answer_format?: {
        [key: string]: unknown;
    } | null;
    /**
     * Tools that run in the caller's process.
     */
    tools?: Array<ToolDefinition> | null;
    /**
     * Which of its tools need approval that do not say: none (`never`, the default), those with the capability `actuator`, or all (`always`).
     */
    approval?: 'never' | 'actuator' | 'always' | null;
    /**
     * The whole system prompt, byte for byte, in place of ours and of the instructions. Empty: there is none.
     */
    system_prompt?: string | null;
    /**
     * False offers the model nothing but the caller's tools. Default true.
     */
    builtins?: boolean | null;
    /**
     * For the first step of a run: `auto` (the default), `required` (some tool must be called), or the name of a tool.
     */
    tool_choice?: string | null;
    /**
     * Removes the session's content 60 s after its end; what remains is its status. Default false.
     */
    ephemeral?: boolean | null;
    /**
     * Who decides on calls that need approval: `ask` (the default) waits for `POST …/approvals`, `host` leaves it to the caller's handler, and no approval is asked.
     */
    permissions?: 'ask' | 'host' | null;
    /**
     * Makes every model request a stream, so that whoever comes to `GET …/stream` sees its text from the beginning. Without it a request is one when somebody reads the stream as its step begins. Default false.
     */
    stream?: boolean | null;
    /**
     * How long a call may wait for its result, in seconds, where its tool does not say. Null: for ever, the default.
     */
    tool_timeout_s?: number | null;
    /**
     * How long a call may wait for its approval, in seconds, where its tool does not say. Null: for ever, the default.
     */
    approval_timeout_s?: number | null;
};

export type SessionRequest = {
    /**
     * The name of a registered agent, or a definition.
     */
    agent: string | Agent;
    /**
     * The first messages: a text, one message, or a list.
     */
    messages?: string | UserMessageEvent | Array<UserMessageEvent> | null;
    /**
     * After so many steps one last step without tools must answer. Null: no bound.
     */
    max_steps?: number | null;
    /**
     * After so many seconds of work and of waiting for results one last step without tools must answer, within 30 s. Idle and paused time does not count. Null: no bound.
     */
    max_time_s?: number | null;
    /**
     * How long the session stays open for a message after each answer. Null: it ends with the answer.
     */
    idle_timeout_s?: number | null;
    /**
     * How long the session is kept after its end. Null: for good.
     */
    delete_after_min?: number | null;
    /**
     * How long screenshots are kept after the session's end.
     */
    delete_screenshot_after_min?: number | null;
    /**
     * When the organization has no free slot: true waits for one as `queued`, the oldest first; false is refused with 429.
     */
    queue?: boolean;
    /**
     * In how many turns in a row the same calls with the same arguments may be made, or two or three that alternate. Then the session fails, with a `reason` of its own. Null: no bound.
     */
    repeat_limit?: number | null;
    /**
     * In how many turns in a row the same error may come back. Then the session fails, with a `reason` of its own. Null: no bound.
     */
    error_limit?: number | null;
    /**
     * Tokens, input and output, that one run may use. Null: no bound.
     */
    token_budget?: number | null;
    /**
     * Groups sessions; lists can be narrowed by it.
     */
    group_id?: string | null;
    parent_session_id?: string | null;
    /**
     * The whole system prompt, byte for byte, in place of ours and of the instructions. Empty: there is none.
     */
    system_prompt?: string | null;
    /**
     * False offers the model nothing but the caller's tools. Default true.
     */
    builtins?: boolean | null;
    /**
     * For the first step of a run: `auto` (the default), `required` (some tool must be called), or the name of a tool.
     */
    tool_choice?: string | null;
    /**
     * Removes the session's content 60 s after its end; what remains is its status. Default false.
     */
    ephemeral?: boolean | null;
    /**
     * Who decides on calls that need approval: `ask` (the default) waits for `POST …/approvals`, `host` leaves it to the caller's handler, and no approval is asked.
     */
    permissions?: 'ask' | 'host' | null;
    /**
     * Makes every model request a stream, so that whoever comes to `GET …/stream` sees its text from the beginning. Without it a request is one when somebody reads the stream as its step begins. Default false.
     */
    stream?: boolean | null;
    /**
     * How long a call may wait for its result, in seconds, where its tool does not say. Null: for ever, the default.
     */
    tool_timeout_s?: number | null;
    /**
     * How long a call may wait for its approval, in seconds, where its tool does not say. Null: for ever, the default.
     */
    approval_timeout_s?: number | null;
    /**
     * Dotted paths to values that replace those of the agent, for example `agent.instructions` or `agent.environments[kind=web].start_url`. `agent.tools` adds tools.
     */
    overrides?: {
        [key: string]: unknown;
    };
};

export type ToolRequest = {
    tool_name: string;
    /**
     * The arguments.
     */
    args?: {
        [key: string]: unknown;
    };
    /**
     * The call's id.
     */
    id?: string | null;
};

export type ToolCall = {
    tool_name: string;
    /**
     * The arguments.
     */
    args: {
        [key: string]: unknown;
    };
    /**
     * The call's id: unique, and the same wherever the call shows.
     */
    id: string;
};

export type PendingToolCall = {
    tool_name: string;
    /**
     * The arguments.
     */
    args: {
        [key: string]: unknown;
    };
    /**
     * The call's id.
     */
    id: string;
    /**
     * When the call waits no longer; null: it may wait for ever.
     */
    deadline?: string | null;
    capability?: 'read' | 'actuator';
};

export type PendingApproval = {
    tool_name: string;
    /**
     * The arguments.
     */
    args: {
        [key: string]: unknown;
    };
    /**
     * The call's id.
     */
    id: string;
    /**
     * When the call waits no longer; null: it may wait for ever.
     */
    deadline?: string | null;
    capability?: 'read' | 'actuator';
    /**
     * Why it needs one: its `tool` says so, or the agent says so of tools that are an `actuator`, or of all (`agent`).
     */
    reason: 'tool' | 'actuator' | 'agent';
};

export type ToolResultEvent = {
    kind?: 'tool_result';
    tool_req: ToolRequest;
    /**
     * What the tool returned: any JSON. Missing means null.
     */
    result?: unknown;
    truncated?: boolean;
    output_artifact_path?: string | null;
};

export type ErrorEvent = {
    kind?: 'error_event';
    /**
     * What went wrong, for the model.
     */
    error: string;
    /**
     * Where it went wrong; clients say `client`.
     */
    origin: string;
    tool_req?: ToolRequest | null;
};

export type ToolResultBatch = {
    type?: 'batch';
    results: Array<ToolResultEvent | ErrorEvent>;
};

export type Receipt = {
    /**
     * The call that the entry was for.
     */
    id: string | null;
    /**
     * `accepted`: it settled its call. `duplicate`: the same answer was there. `conflict`: another answer was there. `late`: the call had been withdrawn, or its time was over. `unknown`: no such call. `approval_required`: the call waits for an approval.
     */
    status: 'accepted' | 'duplicate' | 'conflict' | 'late' | 'unknown' | 'approval_required';
};

export type ToolResultsReceipt = {
    /**
     * One per entry, in order.
     */
    receipts: Array<Receipt>;
    /**
     * Ids of the calls that still wait.
     */
    pending: Array<string>;
    /**
     * Ids of the calls that wait for an approval, if any does.
     */
    pending_approvals?: Array<string>;
    /**
     * Whether this body settled the last call, so that the session goes on.
     */
    resumed: boolean;
};

/**
 * How good the answer is; set with the final answer.
 */
export type AnswerOutcome = 'success' | 'partial' | 'infeasible' | 'blocked';

export type ModelUsage = {
    /**
     * The model.
     */
    name: string;
    input_tokens: number;
    /**
     * Reasoning tokens included.
     */
    output_tokens: number;
    reasoning_tokens: number;
};

export type ModelCost = {
    /**
     * The model.
     */
    name: string;
    input_tokens: number;
    /**
     * Reasoning tokens included.
     */
    output_tokens: number;
    reasoning_tokens: number;
    [key: string]: unknown;
};

export type Metrics = {
    steps: number;
    cost_per_model: Array<ModelCost>;
    [key: string]: unknown;
};

export type PolicyEvent = {
    kind: 'policy_event';
    reasoning_content: string | null;
    /**
     * What the model said.
     */
    content: string | null;
    /**
     * Every call that the model asked for.
     */
    tool_reqs: Array<ToolCall>;
    /**
     * What was wrong with the reply.
     */
    validation_errors: Array<string>;
};

export type ToolResultRecord = {
    kind: 'tool_result';
    tool_req: ToolCall;
    /**
     * What the tool returned.
     */
    result: unknown;
    truncated: boolean;
    output_artifact_path: string | null;
};

export type ErrorRecord = {
    kind: 'error_event';
    error: string;
    /**
     * Where it comes from: `client`, `server`, `model`, `answer`, `agent`, …
     */
    origin: string;
    tool_req: ToolCall | null;
};

export type AnswerEvent = {
    kind: 'answer_event';
    answer: string | {
        [key: string]: unknown;
    };
    outcome: AnswerOutcome | null;
};

export type MessageEvent = {
    kind: 'message_event';
    caller_id: string;
    content: Array<string | ImageContent>;
};

export type FlowEvent = {
    kind: 'flow_event';
    /**
     * `pause`, `resume` or `force_answer`.
     */
    flow: string;
    /**
     * `user`, or `message` when a message resumed the session.
     */
    origin: string;
};

/**
 * The request was accepted.
 */
export type RequestStartEvent = {
    timestamp: string;
    type: 'RequestStartEvent';
    data: {
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * A session that waited for a slot got one.
 */
export type RequestStartDispatchedEvent = {
    timestamp: string;
    type: 'RequestStartDispatchedEvent';
    data: {
        status: string;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * A worker took the session up.
 */
export type AgentStartedEvent = {
    timestamp: string;
    type: 'AgentStartedEvent';
    data: {
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * What the agent, its tools and its user said. `data.kind` tells them apart.
 */
export type AgentEvent = {
    timestamp: string;
    type: 'AgentEvent';
    data: PolicyEvent | ToolResultRecord | AnswerEvent | ErrorRecord | MessageEvent | FlowEvent;
    [key: string]: unknown;
};

/**
 * The session's state changed, or the list of its pending calls did.
 */
export type ActiveStateChangeEvent = {
    timestamp: string;
    type: 'ActiveStateChangeEvent';
    data: {
        state: 'running' | 'idle' | 'awaiting_tool_results' | 'awaiting_approval';
        /**
         * Every call that waits for the caller.
         */
        pending_tool_calls?: Array<PendingToolCall> | null;
        /**
         * Every call that waits for an approval.
         */
        pending_approvals?: Array<PendingApproval>;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * The session was paused, or goes on.
 */
export type AgentRunStatusChangeEvent = {
    timestamp: string;
    type: 'AgentRunStatusChangeEvent';
    data: {
        status: 'running' | 'paused';
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * Steps and tokens so far.
 */
export type MetricsUpdateEvent = {
    timestamp: string;
    type: 'MetricsUpdateEvent';
    data: {
        metrics: Metrics;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * The run ended.
 */
export type AgentCompletionEvent = {
    timestamp: string;
    type: 'AgentCompletionEvent';
    data: {
        reason: 'finished' | 'stopped' | 'timed_out';
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * The run failed.
 */
export type AgentErrorEvent = {
    timestamp: string;
    type: 'AgentErrorEvent';
    data: {
        error: string;
        trace?: string;
        info?: {
            [key: string]: unknown;
        } | null;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * A result that came after its call had been withdrawn. The model does not see it.
 */
export type LateToolResultEvent = {
    timestamp: string;
    type: 'LateToolResultEvent';
    data: {
        tool_req: ToolCall;
        /**
         * The result.
         */
        result: unknown;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * A call was withdrawn: its handler can stop.
 */
export type ToolCallCancelledEvent = {
    timestamp: string;
    type: 'ToolCallCancelledEvent';
    data: {
        tool_req: ToolCall;
        /**
         * `cancelled`, `force_answer`, `max_time`, `timed_out` or `session_failed`.
         */
        reason: string;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * A caller's handler told how far it is.
 */
export type ToolCallProgressEvent = {
    timestamp: string;
    type: 'ToolCallProgressEvent';
    data: {
        tool_req: ToolCall;
        /**
         * What the caller's handler said.
         */
        progress: unknown;
        /**
         * The call's new deadline.
         */
        deadline: string | null;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * It was decided whether a call may run.
 */
export type ToolApprovalEvent = {
    timestamp: string;
    type: 'ToolApprovalEvent';
    data: {
        tool_req: ToolCall;
        decision: 'allow' | 'deny';
        message: string | null;
        /**
         * Whether it counts for all later calls of the tool.
         */
        remember: boolean;
        /**
         * Whether the arguments are others than those the model gave.
         */
        edited: boolean;
        /**
         * Null when nobody decided in time.
         */
        decided_by: string | null;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * One line of a session's history. `type` tells them apart.
 */
export type SessionEvent = RequestStartEvent | RequestStartDispatchedEvent | AgentStartedEvent | AgentEvent | ActiveStateChangeEvent | AgentRunStatusChangeEvent | MetricsUpdateEvent | AgentCompletionEvent | AgentErrorEvent | LateToolResultEvent | ToolCallCancelledEvent | ToolCallProgressEvent | ToolApprovalEvent;

export type TrajectoryStatus = 'queued' | 'pending' | 'running' | 'paused' | 'idle' | 'awaiting_tool_results' | 'awaiting_approval' | 'completed' | 'failed' | 'timed_out' | 'interrupted';

export type SessionErrorCode = 'environment_error' | 'no_answer' | 'answer_validation' | 'timeout' | 'internal';

/**
 * Why the session ended. More exact than `error_code`, and set for good ends too.
 */
export type EndReason = 'answered' | 'max_steps' | 'max_time' | 'idle_timeout' | 'cancelled' | 'repeat_limit' | 'error_limit' | 'token_budget' | 'tool_timeout' | 'provider_refused' | 'provider_unavailable' | 'answer_invalid' | 'no_answer' | 'internal';

export type WaitingOn = {
    /**
     * `slot`: the organization has no free one. `worker`: a step is due and no worker has taken it yet. `model`: a worker asks the model. `model_retry`: the model failed and is asked again at the deadline. `tool_results`: calls wait for the caller. `approval`: calls wait for a decision. `message`: the session has answered and is open. `resume`: it is paused.
     */
    what: 'slot' | 'worker' | 'model' | 'model_retry' | 'tool_results' | 'approval' | 'message' | 'resume';
    since: string;
    /**
     * When something happens by itself, if it does.
     */
    deadline: string | null;
    /**
     * When the worker was last heard of.
     */
    heartbeat_at: string | null;
};

export type SessionStatus = {
    status: TrajectoryStatus;
    /**
     * Why it failed, in words.
     */
    error: string | null;
    error_code: SessionErrorCode | null;
    outcome: AnswerOutcome | null;
    /**
     * Model calls so far.
     */
    steps: number;
    usage_per_model: Array<ModelUsage>;
    subagent_session_ids: Array<string>;
    reason: EndReason | null;
    /**
     * What a live session waits for; null when it has ended.
     */
    waiting_on: WaitingOn | null;
};

export type Session = {
    id: string;
    request: SessionRequest;
    status: SessionStatus;
    agent_view_url: string | null;
    /**
     * Null until the first answer; text, or data when an answer format is set.
     */
    latest_answer: unknown;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
};

export type SessionSummary = {
    id: string;
    agent: string | null;
    status: TrajectoryStatus;
    agent_view_url: string | null;
    first_message: UserMessageEvent | null;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
    last_activity_at: string | null;
    /**
     * When an ephemeral session's content was removed.
     */
    anonymized_at: string | null;
};

export type SessionChanges = {
    status: TrajectoryStatus;
    started_at: string | null;
    finished_at: string | null;
    error: string | null;
    error_code: SessionErrorCode | null;
    /**
     * The events from `from_index` on.
     */
    new_events: Array<SessionEvent>;
    /**
     * The answer of the current run.
     */
    answer: string | {
        [key: string]: unknown;
    } | null;
    outcome: AnswerOutcome | null;
    metrics: Metrics;
    reason: EndReason | null;
    /**
     * The cursor for the next poll: `from_index` plus the events returned.
     */
    next_index: number;
    /**
     * True when events were asked for and the session has some past `next_index`: then the state is later than the events returned. Read on before acting on it.
     */
    has_more: boolean;
};

/**
 * The state of a session once all of its events were sent: `changes` without its events.
 */
export type StreamState = {
    status: TrajectoryStatus;
    started_at: string | null;
    finished_at: string | null;
    error: string | null;
    error_code: SessionErrorCode | null;
    /**
     * The answer of the current run.
     */
    answer: string | {
        [key: string]: unknown;
    } | null;
    outcome: AnswerOutcome | null;
    metrics: Metrics;
    reason: EndReason | null;
    /**
     * The cursor for the next poll: `from_index` plus the events returned.
     */
    next_index: number;
    /**
     * True when events were asked for and the session has some past `next_index`: then the state is later than the events returned. Read on before acting on it.
     */
    has_more: boolean;
};

/**
 * A piece of the text that the model says in a step. All of it comes before the step's events, which have it too. An empty one of offset 0 takes back what was sent of a request that failed.
 */
export type StreamDelta = {
    type: 'delta';
    /**
     * The number of the step that the model request is of, from 1.
     */
    step: number;
    /**
     * How many UTF-16 units of the request's text come before. 0 begins anew: what was sent of a request that failed is void.
     */
    offset: number;
    /**
     * What the model says next.
     */
    text: string;
};

export type QuotaStatus = {
    /**
     * Who the limit is for.
     */
    scope: 'user' | 'org';
    /**
     * Most active sessions; 2147483647 when there is no limit.
     */
    limit: number;
    /**
     * Sessions that are neither queued nor ended.
     */
    active: number;
    /**
     * How many more can be active now.
     */
    available: number;
    /**
     * Sessions that wait for a slot.
     */
    queued: number;
};

export type PageSessionSummary = {
    items: Array<SessionSummary>;
    /**
     * How many there are in all. Exact without filters, on the last page, and up to 10,000. Of more that fit a filter it is an estimate, above 10,000 and never less than what the page shows: reading on until `page * size >= total` misses none.
     */
    total: number;
    /**
     * The page's number, from 1.
     */
    page: number;
};

export type PageSessionEvent = {
    items: Array<SessionEvent>;
    /**
     * How many there are in all.
     */
    total: number;
    /**
     * The page's number, from 1.
     */
    page: number;
};

export type CallProgress = {
    /**
     * What the handler says: any JSON.
     */
    progress: unknown;
};

export type CallProgressReceipt = {
    /**
     * The call's new deadline; null: it may wait for ever.
     */
    deadline: string | null;
};

/**
 * `awaiting_approval` and `pending` are open, all others settled: `answered` by a result or an error of the caller, `denied`, `timed_out`, `withdrawn` by the server, or `refused` before anybody was asked.
 */
export type ToolCallState = 'awaiting_approval' | 'pending' | 'answered' | 'denied' | 'timed_out' | 'withdrawn' | 'refused';

export type CallApproval = {
    /**
     * Why the call needs approval.
     */
    reason: string | null;
    /**
     * Null while nobody has decided.
     */
    decision: string | null;
    /**
     * What was said with the decision.
     */
    message: string | null;
    decided_by: string | null;
    decided_at: string | null;
    asked_args: {
        [key: string]: unknown;
    } | null;
};

export type StoredToolCall = {
    id: string;
    tool_name: string;
    /**
     * The arguments, as the call runs with them.
     */
    args: {
        [key: string]: unknown;
    };
    /**
     * The step that asked for it, from 0.
     */
    step: number;
    state: ToolCallState;
    capability: string;
    created_at: string;
    settled_at: string | null;
    /**
     * Who settled it.
     */
    settled_by: string | null;
    /**
     * Why it came to no result.
     */
    reason: string | null;
    /**
     * When it waits no longer; null: it waits on.
     */
    deadline: string | null;
    /**
     * Who has claimed it last.
     */
    claimant: string | null;
    /**
     * When that claim lapses, or has lapsed.
     */
    claimed_until: string | null;
    /**
     * Null for a call that needs none.
     */
    approval: CallApproval | null;
};

export type PageStoredToolCall = {
    items: Array<StoredToolCall>;
    /**
     * How many there are in all.
     */
    total: number;
    /**
     * The page's number, from 1.
     */
    page: number;
};

export type CallClaim = {
    /**
     * Who runs the call: the same name again prolongs the claim.
     */
    claimant: string;
    /**
     * Seconds until the claim lapses. 0 gives the call back.
     */
    lease_s: number;
};

export type ClaimedCall = {
    /**
     * When the claim lapses; null: it is given back.
     */
    claimed_until: string | null;
    /**
     * Who claimed the call last before this, and has not given it back: the call may have run.
     */
    previous_claimant: string | null;
};

export type OfferedToolCall = {
    session_id: string;
    /**
     * The name of the session's agent.
     */
    agent: string;
    call: PendingToolCall;
    created_at: string;
};

export type OfferedToolCalls = {
    items: Array<OfferedToolCall>;
};

export type Approval = {
    /**
     * A call of `pending_approvals`.
     */
    call_id: string;
    decision: 'allow' | 'deny';
    /**
     * Why. The model reads it when the call is denied.
     */
    message?: string | null;
    /**
     * With `allow`: other arguments than the model's. They must fit the tool's schema.
     */
    args?: {
        [key: string]: unknown;
    } | null;
    /**
     * `session`: counts for all calls of the tool from now on, and for those that wait.
     */
    remember?: 'session' | null;
};

export type ApprovalBatch = {
    type?: 'batch';
    approvals: Array<Approval>;
};

export type ApprovalReceipt = {
    /**
     * The call that the decision was for.
     */
    id: string;
    /**
     * `accepted`: it counts. `duplicate`: the same was decided before. `conflict`: another decision was taken, or the call needs none. `late`: the call was withdrawn, or its time was over. `unknown`: no such call.
     */
    status: 'accepted' | 'duplicate' | 'conflict' | 'late' | 'unknown';
};

export type ApprovalsReceipt = {
    /**
     * One per decision, in order.
     */
    receipts: Array<ApprovalReceipt>;
    /**
     * Ids of the calls that wait for a result.
     */
    pending: Array<string>;
    /**
     * Ids of the calls that wait for a decision.
     */
    pending_approvals: Array<string>;
    /**
     * Whether no call is open any more, so that the session goes on.
     */
    resumed: boolean;
};

export type ShareLink = {
    /**
     * Anybody who has it can read the session's events and status.
     */
    share_url: string;
};

export type SharedSession = {
    status: SessionStatus;
    /**
     * Where its status is.
     */
    status_url: string;
    /**
     * Where its events are, in pages.
     */
    events_url: string;
};

export type NewSessionToken = {
    /**
     * Tools of the session whose calls the token may answer. Absent: all; an empty list: it only reads.
     */
    tools?: Array<string>;
    /**
     * Seconds until the token ends.
     */
    expires_in_s: number;
};

export type SessionToken = {
    /**
     * The token, to be sent as a bearer key is. It is shown this once.
     */
    token: string;
    /**
     * When it ends: at the latest with the key that made it.
     */
    expires_at: string;
};

export type Feedback = {
    /**
     * Whether it was good.
     */
    success: boolean;
    /**
     * Why, in words.
     */
    message?: string | null;
};

export type StoredFeedback = {
    /**
     * The event; null for the session as a whole.
     */
    event_index: number | null;
    success: boolean;
    message: string | null;
    /**
     * Whose key gave it.
     */
    user: string;
    updated_at: string;
};

export type FeedbackList = {
    /**
     * First that on the session as a whole, then by event.
     */
    items: Array<StoredFeedback>;
};

export type PageAgent = {
    items: Array<StoredAgent>;
    /**
     * How many there are in all.
     */
    total: number;
    /**
     * The page's number, from 1.
     */
    page: number;
};

export type NewApiKey = {
    /**
     * Whose sessions and agents the key reaches. It is made when it is new.
     */
    organization: string;
    /**
     * What lists call the key; `key` by default.
     */
    name?: string;
    /**
     * Who its sessions belong to within the organization; `default` by default.
     */
    user?: string;
    /**
     * Days until the key ends; absent: it does not.
     */
    expires_days?: number;
    /**
     * Whether the key manages the keys of every organization.
     */
    admin?: boolean;
};

export type ApiKey = {
    id: string;
    organization: string;
    name: string;
    user: string;
    /**
     * The first characters of a key that was made here; empty for a chosen one.
     */
    hint: string;
    admin: boolean;
    created_at: string;
    /**
     * When the key ends; null: it does not.
     */
    expires_at: string | null;
    revoked_at: string | null;
    /**
     * Exact to the minute.
     */
    last_used_at: string | null;
};

export type CreatedApiKey = {
    id: string;
    organization: string;
    name: string;
    user: string;
    /**
     * The first characters of a key that was made here; empty for a chosen one.
     */
    hint: string;
    admin: boolean;
    created_at: string;
    /**
     * When the key ends; null: it does not.
     */
    expires_at: string | null;
    revoked_at: string | null;
    /**
     * Exact to the minute.
     */
    last_used_at: string | null;
    /**
     * The key. It is shown this once.
     */
    key: string;
};

export type PageApiKey = {
    items: Array<ApiKey>;
    /**
     * How many there are in all.
     */
    total: number;
    /**
     * The page's number, from 1.
     */
    page: number;
};

export type ToolsToCheck = {
    /**
     * `provider/model`; null, or none, takes the server's default.
     */
    model?: string | null;
    /**
     * The tools that a session would have together.
     */
    tools: Array<{
        [key: string]: unknown;
    }>;
};

export type ToolCheck = {
    /**
     * The tool's name; null when it has none.
     */
    name: string | null;
    /**
     * Whether a session with this model would take the tool.
     */
    accepted: boolean;
    /**
     * Why it is not accepted.
     */
    reason?: string;
    /**
     * The path of the fault in the definition.
     */
    path?: Array<string | number>;
    /**
     * The schema that the model's provider gets in place of `input_schema`, when it is another.
     */
    lowered?: {
        [key: string]: unknown;
    };
    /**
     * What differs between the two, in words.
     */
    changes?: Array<string>;
    /**
     * For a tool that asks for it: whether the provider is asked to be strict.
     */
    strict?: boolean;
    /**
     * Why the provider is not asked to be strict.
     */
    strict_reason?: string;
};

export type ToolChecks = {
    /**
     * One for each tool, in the same order.
     */
    items: Array<ToolCheck>;
};

export type SessionTool = {
    /**
     * Letters, digits, `_` and `-`, first a letter or `_`. Unique in a session.
     */
    name: string;
    /**
     * What the tool does, for the model.
     */
    description: string;
    /**
     * JSON Schema of the arguments; its top level is an object. Missing: any object is accepted.
     */
    input_schema?: {
        [key: string]: unknown;
    };
    /**
     * A name for people.
     */
    title?: string | null;
    /**
     * `read` (the default) looks, `actuator` acts. Shown on pending calls.
     */
    capability?: 'read' | 'actuator' | null;
    /**
     * `always`: every call waits for `POST …/approvals` before it is offered. Missing: as the agent says.
     */
    approval?: 'never' | 'always' | null;
    /**
     * How long a call may wait for its approval, in seconds. Null: for ever. Missing: as the session says.
     */
    approval_timeout_s?: number | null;
    /**
     * What counts when nobody decides in time. Default `deny`.
     */
    on_approval_timeout?: 'deny' | 'allow' | null;
    /**
     * How long a call may wait for its result, in seconds; progress moves the deadline. Null: for ever. Missing: as the session says.
     */
    timeout_s?: number | null;
    /**
     * When the time is over: `error` (the default) tells the model, `fail` ends the session.
     */
    on_timeout?: 'error' | 'fail' | null;
    /**
     * After so many failures in a run the tool is offered no more. Missing: any number.
     */
    max_retries?: number | null;
    /**
     * Most tokens of a result's text that the model sees, at four characters each. The history keeps all of it.
     */
    max_result_tokens?: number | null;
    /**
     * Asks the provider for arguments that fit the schema, where it can for this schema.
     */
    strict?: boolean | null;
    /**
     * Keeps the definition out of the requests until the model has found it with `search_tools`.
     */
    defer_loading?: boolean | null;
    /**
     * Arguments of good calls, told to the model.
     */
    examples?: Array<{
        [key: string]: unknown;
    }> | null;
    source: 'custom' | 'builtin';
    /**
     * Whether the next model request holds it. False for a deferred tool that was not found yet, for one that has failed `max_retries` times in this run, and in a last step.
     */
    offered: boolean;
};

export type SessionToolList = {
    /**
     * The caller's tools, then those of the server.
     */
    items: Array<SessionTool>;
};

export type ToolReplacement = {
    /**
     * All of the caller's tools.
     */
    tools: Array<ToolDefinition>;
};

export type ListSessionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Whose sessions: those of the key's user, or of the whole organization.
         */
        owner?: 'me' | 'me-in-organization' | 'organization' | 'me-or-organization';
        /**
         * Any of these states.
         */
        status?: Array<'queued' | 'pending' | 'running' | 'paused' | 'idle' | 'awaiting_tool_results' | 'awaiting_approval' | 'completed' | 'failed' | 'timed_out' | 'interrupted'>;
        /**
         * Any of these agents, by name.
         */
        agent?: Array<string>;
        group_id?: string;
        parent_session_id?: string;
        /**
         * Sessions of one schedule.
         */
        schedule_id?: string;
        /**
         * Text in the first message or the answer, ignoring case. Looks at the newest 100,000 sessions that the other filters leave; `created_before` looks further back.
         */
        search?: string;
        created_before?: string;
        created_after?: string;
        finished_before?: string;
        finished_after?: string;
        /**
         * The page's number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        size?: number;
        sort?: Array<'created_at' | '-created_at'>;
    };
    url: '/api/v2/sessions';
};

export type ListSessionsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListSessionsError = ListSessionsErrors[keyof ListSessionsErrors];

export type ListSessionsResponses = {
    /**
     * Success.
     */
    200: PageSessionSummary;
};

export type ListSessionsResponse = ListSessionsResponses[keyof ListSessionsResponses];

export type CreateSessionData = {
    body: SessionRequest;
    headers?: {
        /**
         * For 24 hours the same key with the same body gives the same session.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/api/v2/sessions';
};

export type CreateSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type CreateSessionError = CreateSessionErrors[keyof CreateSessionErrors];

export type CreateSessionResponses = {
    /**
     * Success.
     */
    201: Session;
};

export type CreateSessionResponse = CreateSessionResponses[keyof CreateSessionResponses];

export type CancelSessionData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}';
};

export type CancelSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type CancelSessionError = CancelSessionErrors[keyof CancelSessionErrors];

export type CancelSessionResponses = {
    /**
     * The session has ended.
     */
    204: void;
};

export type CancelSessionResponse = CancelSessionResponses[keyof CancelSessionResponses];

export type GetSessionData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}';
};

export type GetSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetSessionError = GetSessionErrors[keyof GetSessionErrors];

export type GetSessionResponses = {
    /**
     * Success.
     */
    200: Session;
};

export type GetSessionResponse = GetSessionResponses[keyof GetSessionResponses];

export type GetSessionStatusData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/status';
};

export type GetSessionStatusErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetSessionStatusError = GetSessionStatusErrors[keyof GetSessionStatusErrors];

export type GetSessionStatusResponses = {
    /**
     * Success.
     */
    200: SessionStatus;
};

export type GetSessionStatusResponse = GetSessionStatusResponses[keyof GetSessionStatusResponses];

export type GetSessionChangesData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: {
        /**
         * The cursor: the number of events already seen.
         */
        from_index?: number;
        /**
         * Most events to return.
         */
        limit?: number | null;
        /**
         * False gives the state without the events.
         */
        include_events?: boolean;
        /**
         * How long to wait when there is nothing new.
         */
        wait_for_seconds?: number;
    };
    url: '/api/v2/sessions/{id}/changes';
};

export type GetSessionChangesErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetSessionChangesError = GetSessionChangesErrors[keyof GetSessionChangesErrors];

export type GetSessionChangesResponses = {
    /**
     * Success.
     */
    200: SessionChanges;
    /**
     * Nothing is new.
     */
    204: void;
};

export type GetSessionChangesResponse = GetSessionChangesResponses[keyof GetSessionChangesResponses];

export type StreamSessionData = {
    body?: never;
    headers?: {
        /**
         * The index of the last event that was seen; the stream goes on behind it, whatever `from_index` says.
         */
        'Last-Event-ID'?: number;
    };
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: {
        /**
         * The cursor: the number of events already seen.
         */
        from_index?: number;
    };
    url: '/api/v2/sessions/{id}/stream';
};

export type StreamSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type StreamSessionError = StreamSessionErrors[keyof StreamSessionErrors];

export type StreamSessionResponses = {
    /**
     * The stream.
     */
    200: SessionEvent | StreamState | StreamDelta;
    /**
     * The session has ended, and all of it was seen.
     */
    204: void;
};

export type StreamSessionResponse = StreamSessionResponses[keyof StreamSessionResponses];

export type ListSessionEventsData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: {
        /**
         * The page's number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        size?: number;
        /**
         * Oldest first by default.
         */
        sort?: Array<'timestamp' | '-timestamp'>;
        /**
         * Only events of this type.
         */
        type?: string | null;
    };
    url: '/api/v2/sessions/{id}/events';
};

export type ListSessionEventsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListSessionEventsError = ListSessionEventsErrors[keyof ListSessionEventsErrors];

export type ListSessionEventsResponses = {
    /**
     * Success.
     */
    200: PageSessionEvent;
};

export type ListSessionEventsResponse = ListSessionEventsResponses[keyof ListSessionEventsResponses];

export type SendMessageData = {
    body: UserMessageEvent | UserMessageBatch;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/messages';
};

export type SendMessageErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type SendMessageError = SendMessageErrors[keyof SendMessageErrors];

export type SendMessageResponses = {
    /**
     * The messages are stored.
     */
    202: unknown;
};

export type SubmitToolResultsData = {
    body: ToolResultEvent | ErrorEvent | ToolResultBatch;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/tool_results';
};

export type SubmitToolResultsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type SubmitToolResultsError = SubmitToolResultsErrors[keyof SubmitToolResultsErrors];

export type SubmitToolResultsResponses = {
    /**
     * Success.
     */
    202: ToolResultsReceipt;
};

export type SubmitToolResultsResponse = SubmitToolResultsResponses[keyof SubmitToolResultsResponses];

export type SubmitApprovalsData = {
    body: Approval | ApprovalBatch;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/approvals';
};

export type SubmitApprovalsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type SubmitApprovalsError = SubmitApprovalsErrors[keyof SubmitApprovalsErrors];

export type SubmitApprovalsResponses = {
    /**
     * Success.
     */
    202: ApprovalsReceipt;
};

export type SubmitApprovalsResponse = SubmitApprovalsResponses[keyof SubmitApprovalsResponses];

export type ListSessionToolsData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/tools';
};

export type ListSessionToolsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListSessionToolsError = ListSessionToolsErrors[keyof ListSessionToolsErrors];

export type ListSessionToolsResponses = {
    /**
     * Success.
     */
    200: SessionToolList;
};

export type ListSessionToolsResponse = ListSessionToolsResponses[keyof ListSessionToolsResponses];

export type ReplaceSessionToolsData = {
    body: ToolReplacement;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/tools';
};

export type ReplaceSessionToolsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ReplaceSessionToolsError = ReplaceSessionToolsErrors[keyof ReplaceSessionToolsErrors];

export type ReplaceSessionToolsResponses = {
    /**
     * Success.
     */
    200: SessionToolList;
};

export type ReplaceSessionToolsResponse = ReplaceSessionToolsResponses[keyof ReplaceSessionToolsResponses];

export type ListToolCallsData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: {
        /**
         * The page's number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        size?: number;
        /**
         * Only calls in this state.
         */
        state?: 'awaiting_approval' | 'pending' | 'answered' | 'denied' | 'timed_out' | 'withdrawn' | 'refused';
    };
    url: '/api/v2/sessions/{id}/tool_calls';
};

export type ListToolCallsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListToolCallsError = ListToolCallsErrors[keyof ListToolCallsErrors];

export type ListToolCallsResponses = {
    /**
     * Success.
     */
    200: PageStoredToolCall;
};

export type ListToolCallsResponse = ListToolCallsResponses[keyof ListToolCallsResponses];

export type ClaimToolCallData = {
    body: CallClaim;
    path: {
        /**
         * The session's id.
         */
        id: string;
        /**
         * The call's id.
         */
        call_id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/tool_calls/{call_id}/claim';
};

export type ClaimToolCallErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ClaimToolCallError = ClaimToolCallErrors[keyof ClaimToolCallErrors];

export type ClaimToolCallResponses = {
    /**
     * Success.
     */
    200: ClaimedCall;
};

export type ClaimToolCallResponse = ClaimToolCallResponses[keyof ClaimToolCallResponses];

export type ReportToolProgressData = {
    body: CallProgress;
    path: {
        /**
         * The session's id.
         */
        id: string;
        /**
         * The call's id.
         */
        call_id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/tool_calls/{call_id}/progress';
};

export type ReportToolProgressErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ReportToolProgressError = ReportToolProgressErrors[keyof ReportToolProgressErrors];

export type ReportToolProgressResponses = {
    /**
     * Success.
     */
    202: CallProgressReceipt;
};

export type ReportToolProgressResponse = ReportToolProgressResponses[keyof ReportToolProgressResponses];

export type PauseSessionData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/pause';
};

export type PauseSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type PauseSessionError = PauseSessionErrors[keyof PauseSessionErrors];

export type PauseSessionResponses = {
    /**
     * The session is paused, or will be when its step is through.
     */
    202: unknown;
};

export type ResumeSessionData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/resume';
};

export type ResumeSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ResumeSessionError = ResumeSessionErrors[keyof ResumeSessionErrors];

export type ResumeSessionResponses = {
    /**
     * The session goes on.
     */
    202: unknown;
};

export type ForceAnswerData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/force_answer';
};

export type ForceAnswerErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ForceAnswerError = ForceAnswerErrors[keyof ForceAnswerErrors];

export type ForceAnswerResponses = {
    /**
     * The next step must answer.
     */
    202: unknown;
};

export type GetSessionQuotaData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v2/sessions/quota';
};

export type GetSessionQuotaErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetSessionQuotaError = GetSessionQuotaErrors[keyof GetSessionQuotaErrors];

export type GetSessionQuotaResponses = {
    /**
     * Success.
     */
    200: QuotaStatus;
};

export type GetSessionQuotaResponse = GetSessionQuotaResponses[keyof GetSessionQuotaResponses];

export type UnshareSessionData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/share';
};

export type UnshareSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type UnshareSessionError = UnshareSessionErrors[keyof UnshareSessionErrors];

export type UnshareSessionResponses = {
    /**
     * The session is not shared.
     */
    204: void;
};

export type UnshareSessionResponse = UnshareSessionResponses[keyof UnshareSessionResponses];

export type ShareSessionData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/share';
};

export type ShareSessionErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ShareSessionError = ShareSessionErrors[keyof ShareSessionErrors];

export type ShareSessionResponses = {
    /**
     * Success.
     */
    200: ShareLink;
};

export type ShareSessionResponse = ShareSessionResponses[keyof ShareSessionResponses];

export type CreateSessionTokenData = {
    body: NewSessionToken;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/tokens';
};

export type CreateSessionTokenErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type CreateSessionTokenError = CreateSessionTokenErrors[keyof CreateSessionTokenErrors];

export type CreateSessionTokenResponses = {
    /**
     * Success.
     */
    201: SessionToken;
};

export type CreateSessionTokenResponse = CreateSessionTokenResponses[keyof CreateSessionTokenResponses];

export type ListSessionFeedbackData = {
    body?: never;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/feedback';
};

export type ListSessionFeedbackErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListSessionFeedbackError = ListSessionFeedbackErrors[keyof ListSessionFeedbackErrors];

export type ListSessionFeedbackResponses = {
    /**
     * Success.
     */
    200: FeedbackList;
};

export type ListSessionFeedbackResponse = ListSessionFeedbackResponses[keyof ListSessionFeedbackResponses];

export type SubmitSessionFeedbackData = {
    body: Feedback;
    path: {
        /**
         * The session's id.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/feedback';
};

export type SubmitSessionFeedbackErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type SubmitSessionFeedbackError = SubmitSessionFeedbackErrors[keyof SubmitSessionFeedbackErrors];

export type SubmitSessionFeedbackResponses = {
    /**
     * The feedback is stored.
     */
    204: void;
};

export type SubmitSessionFeedbackResponse = SubmitSessionFeedbackResponses[keyof SubmitSessionFeedbackResponses];

export type SubmitEventFeedbackData = {
    body: Feedback;
    path: {
        /**
         * The session's id.
         */
        id: string;
        /**
         * The event's index, from 0.
         */
        event_index: number;
    };
    query?: never;
    url: '/api/v2/sessions/{id}/events/{event_index}/feedback';
};

export type SubmitEventFeedbackErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type SubmitEventFeedbackError = SubmitEventFeedbackErrors[keyof SubmitEventFeedbackErrors];

export type SubmitEventFeedbackResponses = {
    /**
     * The feedback is stored.
     */
    204: void;
};

export type SubmitEventFeedbackResponse = SubmitEventFeedbackResponses[keyof SubmitEventFeedbackResponses];

export type GetSharedSessionData = {
    body?: never;
    path: {
        /**
         * The last part of a `share_url`.
         */
        token: string;
    };
    query?: {
        /**
         * Which page of the events the HTML shows, from 1.
         */
        page?: number;
    };
    url: '/api/v2/shared/{token}';
};

export type GetSharedSessionErrors = {
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetSharedSessionError = GetSharedSessionErrors[keyof GetSharedSessionErrors];

export type GetSharedSessionResponses = {
    /**
     * The session's status, and where its events are.
     */
    200: SharedSession;
};

export type GetSharedSessionResponse = GetSharedSessionResponses[keyof GetSharedSessionResponses];

export type GetSharedSessionStatusData = {
    body?: never;
    path: {
        /**
         * The last part of a `share_url`.
         */
        token: string;
    };
    query?: never;
    url: '/api/v2/shared/{token}/status';
};

export type GetSharedSessionStatusErrors = {
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetSharedSessionStatusError = GetSharedSessionStatusErrors[keyof GetSharedSessionStatusErrors];

export type GetSharedSessionStatusResponses = {
    /**
     * Success.
     */
    200: SessionStatus;
};

export type GetSharedSessionStatusResponse = GetSharedSessionStatusResponses[keyof GetSharedSessionStatusResponses];

export type ListSharedSessionEventsData = {
    body?: never;
    path: {
        /**
         * The last part of a `share_url`.
         */
        token: string;
    };
    query?: {
        /**
         * The page's number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        size?: number;
        /**
         * Oldest first by default.
         */
        sort?: Array<'timestamp' | '-timestamp'>;
        /**
         * Only events of this type.
         */
        type?: string | null;
    };
    url: '/api/v2/shared/{token}/events';
};

export type ListSharedSessionEventsErrors = {
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListSharedSessionEventsError = ListSharedSessionEventsErrors[keyof ListSharedSessionEventsErrors];

export type ListSharedSessionEventsResponses = {
    /**
     * Success.
     */
    200: PageSessionEvent;
};

export type ListSharedSessionEventsResponse = ListSharedSessionEventsResponses[keyof ListSharedSessionEventsResponses];

export type ListAgentsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only the agent of this name.
         */
        agent_name?: string;
        /**
         * Text in the name or the description, ignoring case.
         */
        search?: string;
        /**
         * The page's number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        size?: number;
        sort?: Array<'created_at' | '-created_at' | 'agent_name' | '-agent_name'>;
    };
    url: '/api/v2/agents';
};

export type ListAgentsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListAgentsError = ListAgentsErrors[keyof ListAgentsErrors];

export type ListAgentsResponses = {
    /**
     * Success.
     */
    200: PageAgent;
};

export type ListAgentsResponse = ListAgentsResponses[keyof ListAgentsResponses];

export type CreateAgentData = {
    body: NewAgent;
    path?: never;
    query?: never;
    url: '/api/v2/agents';
};

export type CreateAgentErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type CreateAgentError = CreateAgentErrors[keyof CreateAgentErrors];

export type CreateAgentResponses = {
    /**
     * Success.
     */
    201: StoredAgent;
};

export type CreateAgentResponse = CreateAgentResponses[keyof CreateAgentResponses];

export type DeleteAgentData = {
    body?: never;
    path: {
        /**
         * The agent's name; it may hold one slash.
         */
        agent_name: string;
    };
    query?: never;
    url: '/api/v2/agents/{agent_name}';
};

export type DeleteAgentErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type DeleteAgentError = DeleteAgentErrors[keyof DeleteAgentErrors];

export type DeleteAgentResponses = {
    /**
     * The agent is gone.
     */
    204: void;
};

export type DeleteAgentResponse = DeleteAgentResponses[keyof DeleteAgentResponses];

export type GetAgentData = {
    body?: never;
    path: {
        /**
         * The agent's name; it may hold one slash.
         */
        agent_name: string;
    };
    query?: {
        /**
         * Replaces names of registered subagents by definitions.
         */
        resolve?: boolean;
    };
    url: '/api/v2/agents/{agent_name}';
};

export type GetAgentErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetAgentError = GetAgentErrors[keyof GetAgentErrors];

export type GetAgentResponses = {
    /**
     * Success.
     */
    200: StoredAgent;
};

export type GetAgentResponse = GetAgentResponses[keyof GetAgentResponses];

export type UpdateAgentData = {
    body: PatchAgent;
    path: {
        /**
         * The agent's name; it may hold one slash.
         */
        agent_name: string;
    };
    query?: never;
    url: '/api/v2/agents/{agent_name}';
};

export type UpdateAgentErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type UpdateAgentError = UpdateAgentErrors[keyof UpdateAgentErrors];

export type UpdateAgentResponses = {
    /**
     * Success.
     */
    200: StoredAgent;
};

export type UpdateAgentResponse = UpdateAgentResponses[keyof UpdateAgentResponses];

export type ReplaceAgentData = {
    body: NewAgent;
    path: {
        /**
         * The agent's name; it may hold one slash.
         */
        agent_name: string;
    };
    query?: never;
    url: '/api/v2/agents/{agent_name}';
};

export type ReplaceAgentErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ReplaceAgentError = ReplaceAgentErrors[keyof ReplaceAgentErrors];

export type ReplaceAgentResponses = {
    /**
     * Success.
     */
    200: StoredAgent;
};

export type ReplaceAgentResponse = ReplaceAgentResponses[keyof ReplaceAgentResponses];

export type CheckToolsData = {
    body: ToolsToCheck;
    path?: never;
    query?: never;
    url: '/api/v2/tools/check';
};

export type CheckToolsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type CheckToolsError = CheckToolsErrors[keyof CheckToolsErrors];

export type CheckToolsResponses = {
    /**
     * Success.
     */
    200: ToolChecks;
};

export type CheckToolsResponse = CheckToolsResponses[keyof CheckToolsResponses];

export type ListPendingToolCallsData = {
    body?: never;
    path?: never;
    query: {
        /**
         * Calls of these tools, by name.
         */
        tools: Array<string>;
        /**
         * Only in sessions of these agents, by name.
         */
        agents?: Array<string>;
        /**
         * Whose sessions: those of the whole organization, or of the key's user.
         */
        owner?: 'me' | 'me-in-organization' | 'organization' | 'me-or-organization';
        /**
         * How long to wait when there is no call.
         */
        wait_for_seconds?: number;
        /**
         * Most calls to return.
         */
        limit?: number;
    };
    url: '/api/v2/tool_calls';
};

export type ListPendingToolCallsErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListPendingToolCallsError = ListPendingToolCallsErrors[keyof ListPendingToolCallsErrors];

export type ListPendingToolCallsResponses = {
    /**
     * Success.
     */
    200: OfferedToolCalls;
};

export type ListPendingToolCallsResponse = ListPendingToolCallsResponses[keyof ListPendingToolCallsResponses];

export type ListKeysData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only the keys of the organization of this name.
         */
        organization?: string;
        /**
         * The page's number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        size?: number;
    };
    url: '/api/v2/keys';
};

export type ListKeysErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type ListKeysError = ListKeysErrors[keyof ListKeysErrors];

export type ListKeysResponses = {
    /**
     * Success.
     */
    200: PageApiKey;
};

export type ListKeysResponse = ListKeysResponses[keyof ListKeysResponses];

export type CreateKeyData = {
    body: NewApiKey;
    path?: never;
    query?: never;
    url: '/api/v2/keys';
};

export type CreateKeyErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * The body is over 10,000,000 bytes.
     */
    413: ErrorReply;
    /**
     * The body is not `application/json`.
     */
    415: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type CreateKeyError = CreateKeyErrors[keyof CreateKeyErrors];

export type CreateKeyResponses = {
    /**
     * Success.
     */
    201: CreatedApiKey;
};

export type CreateKeyResponse = CreateKeyResponses[keyof CreateKeyResponses];

export type RevokeKeyData = {
    body?: never;
    path: {
        /**
         * The key's id, which is not the key.
         */
        id: string;
    };
    query?: never;
    url: '/api/v2/keys/{id}';
};

export type RevokeKeyErrors = {
    /**
     * The API key is missing or unknown.
     */
    401: ErrorReply;
    /**
     * The session token may not do this, or an admin key is needed; `code` says which.
     */
    403: ErrorReply;
    /**
     * No such thing in this organization.
     */
    404: ErrorReply;
    /**
     * The state does not allow it; `code` says which.
     */
    409: ErrorReply;
    /**
     * The request has a fault; `loc` says where.
     */
    422: HttpValidationError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: ErrorReply;
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type RevokeKeyError = RevokeKeyErrors[keyof RevokeKeyErrors];

export type RevokeKeyResponses = {
    /**
     * The key is revoked.
     */
    204: void;
};

export type RevokeKeyResponse = RevokeKeyResponses[keyof RevokeKeyResponses];

export type GetHealthData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/healthz';
};

export type GetHealthResponses = {
    /**
     * Success.
     */
    200: {
        status: 'ok';
    };
};

export type GetHealthResponse = GetHealthResponses[keyof GetHealthResponses];

export type GetReadinessData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/readyz';
};

export type GetReadinessErrors = {
    /**
     * The database or the queue is out of reach; `Retry-After` says when to try again.
     */
    503: ErrorReply;
};

export type GetReadinessError = GetReadinessErrors[keyof GetReadinessErrors];

export type GetReadinessResponses = {
    /**
     * Success.
     */
    200: {
        status: 'ready';
    };
};

export type GetReadinessResponse = GetReadinessResponses[keyof GetReadinessResponses];
