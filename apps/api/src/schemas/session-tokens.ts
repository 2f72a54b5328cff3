// Session tokens as they are asked for and shown.
import { Type } from "@sinclair/typebox";
import { MAX_TOKEN_S } from "@tandem/engine/domain/session-tokens";
import { MAX_TOOLS } from "@tandem/engine/domain/tools";
import { timestamp } from "./typebox.ts";

/** What a token is made from. Closed: a misspelt `tools` would make a token for all of them. */
export const NewSessionToken = Type.Object(
  {
    tools: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_TOOLS,
        description:
          "Tools of the session whose calls the token may answer. Absent: all; an empty list: it only reads.",
      }),
    ),
    expires_in_s: Type.Integer({
      minimum: 1,
      maximum: MAX_TOKEN_S,
      description: "Seconds until the token ends.",
    }),
  },
  {
    $id: "NewSessionToken",
    additionalProperties: false,
    examples: [{ tools: ["get_order_status"], expires_in_s: 900 }],
  },
);

export const SessionToken = Type.Object(
  {
    token: Type.String({ description: "The token, to be sent as a bearer key is. It is shown this once." }),
    expires_at: timestamp("When it ends: at the latest with the key that made it."),
  },
  { $id: "SessionToken" },
);

export const sessionTokenSchemas = [NewSessionToken, SessionToken];
