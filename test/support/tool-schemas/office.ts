// Calendars, mail, chat, maps and payments.
import { objectOf, only, text, toolSchema } from "./tool-schema.ts";

const moment = objectOf(
  { dateTime: { type: "string", format: "date-time" }, timeZone: { type: "string" } },
  "dateTime",
);

export const officeSchemas = [
  toolSchema(
    "create_event",
    objectOf(
      {
        calendarId: { type: "string", default: "primary" },
        summary: { type: "string" },
        start: moment,
        end: moment,
        attendees: {
          type: "array",
          items: objectOf(
            { email: { type: "string", format: "email" }, optional: { type: "boolean" } },
            "email",
          ),
        },
        recurrence: { type: "array", items: { type: "string" } },
      },
      ...["summary", "start", "end"],
    ),
    {
      summary: "s",
      start: { dateTime: "2026-01-01T10:00:00Z" },
      end: { dateTime: "2026-01-01T11:00:00Z" },
      attendees: [{ email: "a@b.test" }],
    },
  ),
  toolSchema(
    "find_free_time",
    objectOf(
      {
        from: { type: "string", format: "date" },
        duration: { type: "string", format: "duration" },
        weekdays: { type: "array", items: { type: "integer", enum: [1, 2, 3, 4, 5] }, uniqueItems: true },
      },
      "from",
    ),
    { from: "2026-01-01", duration: "PT1H", weekdays: [1, 5] },
  ),
  toolSchema(
    "remind",
    objectOf(
      {
        at: {
          oneOf: [
            { type: "string", format: "date-time" },
            { type: "integer", description: "Unix seconds" },
          ],
        },
        text: { type: "string" },
      },
      "at",
      "text",
    ),
    { at: 1, text: "x" },
    { at: "2026-01-01T10:00:00Z", text: "x" },
  ),
  toolSchema(
    "send_mail",
    objectOf(
      {
        to: {
          anyOf: [
            { type: "string", format: "email" },
            { type: "array", items: { type: "string", format: "email" }, minItems: 1 },
          ],
        },
        subject: { type: "string", maxLength: 998 },
        html: { type: "string", nullable: true },
        attachments: {
          type: "array",
          items: {
            type: "object",
            properties: {
              filename: { type: "string" },
              content: { type: "string", contentEncoding: "base64" },
            },
            required: ["filename"],
          },
        },
      },
      "to",
      "subject",
    ),
    { to: ["a@b.test"], subject: "s", html: null },
    { to: "a@b.test", subject: "s", attachments: [{ filename: "f", content: "eA==" }] },
  ),
  toolSchema(
    "mail_filter",
    objectOf({
      criteria: { properties: { from: { type: "string" }, hasAttachment: { type: "boolean" } } },
      action: { type: "object", properties: { addLabelIds: { type: "array" } } },
    }),
    { criteria: { from: "x", hasAttachment: true }, action: { addLabelIds: ["a"] } },
  ),
  toolSchema(
    "post_message",
    objectOf(
      {
        channel: text("Its id"),
        blocks: { type: "array", description: "Blocks of any kind", items: {} },
        metadata: { description: "Anything" },
        thread_ts: { type: "string", pattern: "^\\d+\\.\\d+$" },
      },
      "channel",
    ),
    { channel: "C1", blocks: [{ type: "section" }, "x"], metadata: [1, { a: null }], thread_ts: "1.2" },
  ),
  toolSchema(
    "add_reaction",
    only(
      { channel_id: { type: "string" }, timestamp: { type: "string" }, reaction: { type: "string" } },
      "channel_id",
      "timestamp",
      "reaction",
    ),
    {
      channel_id: "c",
      timestamp: "1",
      reaction: "eyes",
    },
  ),
  toolSchema(
    "list_members",
    objectOf({
      limit: { type: "integer", default: 100, maximum: 200 },
      cursor: { type: ["null", "string"] },
    }),
    { cursor: null },
    { limit: 5, cursor: "x" },
  ),
];
