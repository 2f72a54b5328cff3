// `tandem doctor`: looks at everything a stack needs, and says what to do.
import type { ServerOptions } from "../connect.ts";
import { findDataDir } from "../data-dir.ts";
import type { Check } from "../doctor/check.ts";
import { checkDataDir, checkNode, checkSettings } from "../doctor/check-machine.ts";
import { checkApi, checkStores } from "../doctor/check-services.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toHarmless } from "../terminal/harmless.ts";
import { print, printJson } from "../terminal/output.ts";
import { createPaint, type Paint } from "../terminal/paint.ts";

/** Prints a line for each check; fails when one does. */
export async function doctor(
  options: ServerOptions & { json?: boolean; color?: boolean },
): Promise<ExitCode> {
  const env = { ...process.env, TANDEM_DATA_DIR: findDataDir() };
  const settings = checkSettings(env);
  const checks = [
    checkNode(),
    ...settings.checks,
    await checkDataDir(env.TANDEM_DATA_DIR),
    // With settings that are wrong there is no use in trying them out.
    ...(settings.config ? await checkStores(env) : []),
    ...(await checkApi(options)),
  ];
  const isWell = checks.every(({ verdict }) => verdict !== "fail");
  if (options.json) printJson({ ok: isWell, checks });
  else for (const check of checks) print(toLines(check, createPaint(process.stdout, options)));
  return isWell ? exitCodes.ok : exitCodes.failed;
}

const STYLES = { ok: "green", warn: "yellow", fail: "red" } as const;

function toLines({ name, verdict, found, advice }: Check, paint: Paint): string {
  const head = `${paint(STYLES[verdict], verdict.padEnd(4))}  ${name.padEnd(15)} ${toHarmless(found)}`;
  return advice === null ? head : `${head}\n${" ".repeat(22)}${paint("dim", `→ ${advice}`)}`;
}
