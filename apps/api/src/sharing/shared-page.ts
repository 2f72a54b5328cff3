// A shared session as a page for people: what was said and done, as text. No scripts, nothing from elsewhere.
import { createHash } from "node:crypto";
import { parseJson, stringifyJson } from "@tandem/engine/domain/json";

/** What the page shows. */
export interface SharedPage {
  token: string;
  status: string;
  error: string | null;
  /** JSON text of one page of events, comma-separated. */
  events: string | null;
  total: number;
  page: number;
  size: number;
}

const STYLE = `body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 sans-serif}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f3f3;color:#111;padding:.5rem}small{color:#767676}`;

/** Allows the one style above, and nothing else. */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Most characters of an event that are read and shown; the JSON has them all. */
export const MAX_TEXT = 20_000;

/** The page's HTML. Links are relative, so that they hold behind any proxy. */
export function toSharedPage(shared: SharedPage): string {
  const { token, status, error, total, page, size } = shared;
  const events = (parseJson(`[${shared.events ?? ""}]`) as unknown as ShownEvent[]).map(toArticle).join("\n");
  const link = (to: number, text: string) =>
    `<a rel="nofollow" href="${escapeHtml(token)}?page=${to}">${text}</a>`;
  const links = [
    ...(page > 1 ? [link(page - 1, "Earlier")] : []),
    ...(page * size < total ? [link(page + 1, "Later")] : []),
    `<a rel="nofollow" href="${escapeHtml(token)}/events">Events as JSON</a>`,
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex, nofollow"><title>A shared session</title><style>${STYLE}</style></head>
<body><h1>A shared session</h1>
<p>Status: <strong>${escapeHtml(status)}</strong>. ${total} events.</p>
${error === null ? "" : `<pre>${escapeHtml(error)}</pre>`}
${events}
<p>${links.join(" · ")}</p></body></html>
`;
}

interface ShownEvent {
  timestamp: string;
  type: string;
  data: Record<string, unknown>;
}

function toArticle({ timestamp, type, data }: ShownEvent): string {
  const shown = typeof data.cut === "string" ? `${data.cut}…` : toWords(data);
  const head = `${escapeHtml(String(data.kind ?? type))} <small>${escapeHtml(timestamp)}</small>`;
  return `<section><p>${head}</p>${shown === "" ? "" : `<pre>${escapeHtml(shown)}</pre>`}</section>`;
}

/** An event's data as text: what was said as it is, everything else as JSON. */
function toWords({ kind, ...data }: Record<string, unknown>): string {
  if (kind === "answer_event" && typeof data.answer === "string") return data.answer;
  if (kind === "message_event" && Array.isArray(data.content)) {
    return data.content.map((part) => (typeof part === "string" ? part : "[image]")).join("\n");
  }
  if (kind === "policy_event" && Array.isArray(data.tool_reqs)) {
    const calls = data.tool_reqs.map((call) => `${call.tool_name} ${stringifyJson(call.args)}`);
    return [data.content, ...calls].filter(Boolean).join("\n");
  }
  return Object.keys(data).length === 0 ? "" : stringifyJson(data);
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
