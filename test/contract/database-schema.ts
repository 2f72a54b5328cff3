// What a database is made of, by its own catalogue, in the words of the Prisma schema's reader.
import type pg from "pg";
import type { Column, ForeignKey, Table, Tables } from "./prisma-schema.ts";

/** Prisma's ledger of migrations is no table of ours. */
const ledger = "_prisma_migrations";

/** Reads the tables of the schema `public`. Partial indexes are left out: Prisma has no words for them. */
export async function readDatabaseSchema(client: pg.Client): Promise<Tables> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND relname <> $1
      ORDER BY relname`,
    [ledger],
  );
  const tables: [string, Table][] = [];
  for (const { name } of rows) tables.push([name, await readTable(client, name)]);
  return Object.fromEntries(tables);
}

async function readTable(client: pg.Client, table: string): Promise<Table> {
  const indexes = await readIndexes(client, table);
  const pick = (kind: IndexRow["kind"]) =>
    Object.fromEntries(
      indexes.filter((index) => index.kind === kind).map(({ name, columns }) => [name, columns]),
    );
  return {
    columns: await readColumns(client, table),
    primaryKey: indexes.find(({ kind }) => kind === "primary")?.columns ?? [],
    uniques: pick("unique"),
    indexes: pick("plain"),
    foreignKeys: await readForeignKeys(client, table),
  };
}

async function readColumns(client: pg.Client, table: string): Promise<Record<string, Column>> {
  const { rows } = await client.query<Column & { name: string }>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS "isNullable",
            atthasdef AS "hasDefault"
       FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
      ORDER BY attname COLLATE "C"`,
    [table],
  );
  return Object.fromEntries(rows.map(({ name, ...column }) => [name, column]));
}

interface IndexRow {
  name: string;
  kind: "primary" | "unique" | "plain";
  columns: string[];
}

async function readIndexes(client: pg.Client, table: string): Promise<IndexRow[]> {
  const { rows } = await client.query<IndexRow>(
    `SELECT index.relname AS name,
            CASE WHEN indisprimary THEN 'primary' WHEN indisunique THEN 'unique' ELSE 'plain' END AS kind,
            ARRAY(SELECT trim('"' FROM pg_get_indexdef(indexrelid, place, true))
                         || CASE WHEN (indoption[place - 1] & 1) = 1 THEN ' desc' ELSE '' END
                    FROM generate_series(1, indnkeyatts) AS place ORDER BY place) AS columns
       FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
      WHERE indrelid = $1::regclass AND indpred IS NULL
      ORDER BY index.relname COLLATE "C"`,
    [table],
  );
  return rows;
}

async function readForeignKeys(client: pg.Client, table: string): Promise<Record<string, ForeignKey>> {
  const action = (column: string) =>
    `CASE ${column} WHEN 'c' THEN 'CASCADE' WHEN 'r' THEN 'RESTRICT' WHEN 'n' THEN 'SET NULL'
       WHEN 'd' THEN 'SET DEFAULT' ELSE 'NO ACTION' END`;
  const columns = (owner: string, keys: string) =>
    `ARRAY(SELECT attname::text FROM unnest(${keys}) WITH ORDINALITY AS key (number, place)
             JOIN pg_attribute ON attrelid = ${owner} AND attnum = key.number ORDER BY place)`;
  const { rows } = await client.query<ForeignKey & { name: string }>(
    `SELECT conname AS name, ${columns("conrelid", "conkey")} AS columns, confrelid::regclass::text AS "table",
            ${columns("confrelid", "confkey")} AS "references",
            ${action("confdeltype")} AS "onDelete", ${action("confupdtype")} AS "onUpdate"
       FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'f' ORDER BY conname COLLATE "C"`,
    [table],
  );
  return Object.fromEntries(rows.map(({ name, ...key }) => [name, key]));
}
