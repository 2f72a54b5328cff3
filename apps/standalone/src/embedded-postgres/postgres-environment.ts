/**
 * The whole environment of Postgres: nothing of ours (model keys) gets into it, and no `PG*` or locale
 * variable of the machine changes how it behaves or which language it logs in.
 */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot } = process.env;
  return {
    LC_ALL: "C",
    ...(PATH === undefined ? {} : { PATH }),
    ...(SystemRoot === undefined ? {} : { SystemRoot }),
  };
}
