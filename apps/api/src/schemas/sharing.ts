// Public links, and what they show.
import { Type } from "@sinclair/typebox";
import { SessionStatus } from "./sessions.ts";
import { ref } from "./typebox.ts";

export const ShareLink = Type.Object(
  { share_url: Type.String({ description: "Anybody who has it can read the session's events and status." }) },
  { $id: "ShareLink", additionalProperties: false },
);

export const SharedSession = Type.Object(
  {
    status: ref(SessionStatus),
    status_url: Type.String({ description: "Where its status is." }),
    events_url: Type.String({ description: "Where its events are, in pages." }),
  },
  { $id: "SharedSession" },
);

/** `{token}` of a public link. What cannot be a token is not found, like one that is nobody's. */
export const SharedParams = Type.Object({
  token: Type.String({ description: "The last part of a `share_url`." }),
});

export const sharingSchemas = [ShareLink, SharedSession];
