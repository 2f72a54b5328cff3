// Organizations, keys and agents: rows that people manage, through Prisma on the process's own pool.
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import type { AgentDefinition } from "../domain/agents.ts";
import { type Prisma, PrismaClient } from "./prisma/client.ts";

/** The typed client of the catalogue's tables. */
export type Catalogue = PrismaClient;

/** Makes the catalogue's client. It owns no connections; closing the pool closes it. */
export function createCatalogue(pool: pg.Pool): Catalogue {
  return new PrismaClient({ adapter: new PrismaPg(pool) });
}

/** An agent's definition as a JSON column takes it. */
export function toDefinitionColumn(agent: AgentDefinition): Prisma.InputJsonValue {
  return agent as unknown as Prisma.InputJsonValue;
}
