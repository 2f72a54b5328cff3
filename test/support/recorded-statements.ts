// What a process says to its databases: every statement of every `pg` connection of this process, while it is recorded.
import pg from "pg";

export interface RecordedStatement {
  text: string;
  values: unknown[];
  /** True when it is prepared under a name: then its plan may be made without its values. */
  isNamed: boolean;
}

export interface Recording {
  /** Each statement once for each of its parameters, up to a few. */
  statements: RecordedStatement[];
  stop(): void;
}

/** Statements differ in their parameters without end; this many of each are kept. */
const KEPT = 4;

/** Records until it is stopped. The statements run as ever. */
export function recordStatements(): Recording {
  const found = new Map<string, RecordedStatement[]>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function record(this: pg.Client, ...args: unknown[]) {
    const [config, values] = args as [string | Partial<pg.QueryConfig>, unknown];
    const text = typeof config === "string" ? config : config?.text;
    if (text !== undefined) {
      const given = typeof config === "string" ? values : (config.values ?? values);
      const isNamed = typeof config === "object" && config.name !== undefined;
      keep(found, { text, values: Array.isArray(given) ? given : [], isNamed });
    }
    return Reflect.apply(query, this, args);
  } as typeof query;
  return {
    get statements() {
      return [...found.values()].flat();
    },
    stop() {
      pg.Client.prototype.query = query;
    },
  };
}

function keep(found: Map<string, RecordedStatement[]>, statement: RecordedStatement): void {
  const kept = found.get(statement.text) ?? [];
  const isKnown = kept.some(({ values }) => String(values) === String(statement.values));
  if (!isKnown && kept.length < KEPT) kept.push(statement);
  found.set(statement.text, kept);
}
