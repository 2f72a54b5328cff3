// Settings that an agent has as defaults, and a session's request may set anew.
import { Type } from "@sinclair/typebox";
import { type AgentSettings, PERMISSIONS } from "@tandem/engine/domain/agent-settings";
import { MAX_TIMEOUT_S } from "@tandem/engine/domain/tools";
import { nullable, stringEnum } from "./typebox.ts";

/** Seconds that a call may wait. */
export const timeoutS = () => Type.Number({ exclusiveMinimum: 0, maximum: MAX_TIMEOUT_S });

/** The fields, the same on an agent and on a request. */
export const agentSettings = {
  system_prompt: Type.Optional(
    nullable(Type.String(), {
      description:
        "The whole system prompt, byte for byte, in place of ours and of the instructions. Empty: there is none.",
    }),
  ),
  builtins: Type.Optional(
    nullable(Type.Boolean(), {
      description: "False offers the model nothing but the caller's tools. Default true.",
    }),
  ),
  tool_choice: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: 64 }), {
      description:
        "For the first step of a run: `auto` (the default), `required` (some tool must be called), or the name of a tool.",
    }),
  ),
  ephemeral: Type.Optional(
    nullable(Type.Boolean(), {
      description:
        "Removes the session's content 60 s after its end; what remains is its status. Default false.",
    }),
  ),
  permissions: Type.Optional(
    nullable(stringEnum(PERMISSIONS), {
      description:
        "Who decides on calls that need approval: `ask` (the default) waits for `POST …/approvals`, `host` leaves it to " +
        "the caller's handler, and no approval is asked.",
    }),
  ),
  stream: Type.Optional(
    nullable(Type.Boolean(), {
      description:
        "Makes every model request a stream, so that whoever comes to `GET …/stream` sees its text from the beginning. " +
        "Without it a request is one when somebody reads the stream as its step begins. Default false.",
    }),
  ),
  tool_timeout_s: Type.Optional(
    nullable(timeoutS(), {
      description:
        "How long a call may wait for its result, in seconds, where its tool does not say. Null: for ever, the default.",
    }),
  ),
  approval_timeout_s: Type.Optional(
    nullable(timeoutS(), {
      description:
        "How long a call may wait for its approval, in seconds, where its tool does not say. Null: for ever, the default.",
    }),
  ),
} satisfies Record<keyof AgentSettings, unknown>;
