/**
 * How the demo model compares words: tokens, stems, and a small table of words that mean the same.
 * Knows nothing about tools or schemas.
 */

/** Words looked at in one text; more would not change the choice of a tool, only the time it takes. */
const MAX_WORDS = 400;

/** Words that carry no meaning of their own in a request. */
const STOP_WORDS = new Set(
  (
    "a an the this that these those i you he she it we they me my mine your our us is are was were be been am do does " +
    "did can could would will shall should may might must please kindly to of in on at for from with by as into " +
    "about and or but if then than so what which who whom whose when where why how there here have has had not no " +
    "yes thanks thank ok okay just some any all like want need let lets s t m re ve ll d whats wheres " +
    "hows im now right currently today give tell know also too one up out its use using tool tools function"
  ).split(" "),
);

/** Each line is a set of words that count as the same when a message is compared with a tool. */
const SAME_MEANING = [
  "add plus sum total addition",
  "subtract minus difference",
  "multiply times product multiplied",
  "divide divided quotient over",
  "calculate compute math arithmetic calculator evaluate",
  "weather forecast temperature rain rainy sunny snow hot cold warm humid umbrella climate degrees",
  "order parcel package shipment delivery purchase",
  "status track tracking state arrive arrived where progress shipped delivered",
  "mail email emails",
  "send mail email write",
  "send message text sms notify dm",
  "book reserve reservation booking",
  "cancel abort",
  "delete remove erase",
  "create open new make raise",
  "convert exchange conversion change",
  "ticket issue bug incident",
  "search find look lookup google query",
  "list show display enumerate",
  "stock share quote",
  "stock inventory",
  "price cost much",
  "user customer account client profile",
  "time clock hour",
  "translate translation",
  "people person persons guest guests party seat seats attendee attendees pax",
  "meet meeting appointment event calendar",
  "schedule meeting appointment plan",
  "place location city town where",
  "picture image photo",
  "document file files",
  "update change edit modify set",
  "currency money dollars euros pounds yen",
  "distance far",
  "title subject",
  "body message content text",
  "summarize summary summarise",
  "phone telephone mobile number",
  "quantity amount count many",
  "urgent urgency",
  "reminder remind",
  "remember memory memorize save store",
  "define definition mean meaning dictionary",
];

const meaningsByStem = new Map<string, Set<number>>();
for (const [meaning, line] of SAME_MEANING.entries()) {
  for (const word of line.split(" ")) {
    const key = stem(word);
    meaningsByStem.set(key, (meaningsByStem.get(key) ?? new Set()).add(meaning));
  }
}

/** Removes the endings of English plurals, participles and the silent e: "scheduling" and "schedules" are "schedul". */
export function stem(word: string): string {
  let root = word;
  if (root.length > 4 && root.endsWith("ies")) root = `${root.slice(0, -3)}y`;
  else if (/(?:ss|x|ch|sh)es$/.test(root)) root = root.slice(0, -2);
  else if (root.length > 3 && root.endsWith("s") && !/(?:ss|us|is)$/.test(root)) root = root.slice(0, -1);
  if (root.length > 5 && root.endsWith("ing")) root = undouble(root.slice(0, -3));
  else if (root.length > 4 && root.endsWith("ed")) root = undouble(root.slice(0, -2));
  return root.length > 3 && root.endsWith("e") ? root.slice(0, -1) : root;
}

function undouble(root: string): string {
  return /([bdgmnprt])\1$/.test(root) ? root.slice(0, -1) : root;
}

/** Lower-case words of a text, in order; arithmetic signs between digits count as words. */
export function toWords(text: string): string[] {
  const spelled = text
    .replace(/(?<=\d)\s*\+\s*(?=\d)/g, " plus ")
    .replace(/(?<=\d)\s*[*×]\s*(?=\d)/g, " times ");
  const signs = spelled
    .replace(/(?<=\d)\s*[/÷]\s*(?=\d)/g, " divided ")
    .replace(/(?<=\d)\s+[-−]\s+(?=\d)/g, " minus ");
  return (signs.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MAX_WORDS);
}

/** The words of an identifier: `getOrderStatus` and `get_order-status` are both "get", "order", "status". */
export function toNameWords(name: string): string[] {
  return toWords(name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replace(/_/g, " "));
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** A text prepared for many comparisons. */
export interface WordSet {
  readonly stems: ReadonlySet<string>;
  readonly meanings: ReadonlySet<number>;
}

export function toWordSet(words: Iterable<string>): WordSet {
  const stems = new Set<string>();
  const meanings = new Set<number>();
  for (const word of words) {
    const root = stem(word);
    stems.add(root);
    for (const meaning of meaningsByStem.get(root) ?? []) meanings.add(meaning);
  }
  return { stems, meanings };
}

/** 1 when the set holds the word, 0.75 when it holds one of the same meaning, else 0. */
export function likeness(set: WordSet, word: string): number {
  const root = stem(word);
  if (set.stems.has(root)) return 1;
  for (const meaning of meaningsByStem.get(root) ?? []) if (set.meanings.has(meaning)) return 0.75;
  return 0;
}
