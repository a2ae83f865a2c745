import { test } from "vitest";
import { titled } from "../../support/titled.js";

/**
 * The environment variables that name a real platform, where all of them are set.
 *
 * @param names such as GRC_REAL_URL.
 */
export function realPlatform<Name extends string>(
  ...names: readonly Name[]
): { readonly settings: Readonly<Record<Name, string>> | undefined; readonly missing: string | undefined } {
  const missing = names.filter((name) => (process.env[name] ?? "") === "");
  if (missing.length > 0) return { settings: undefined, missing: `${missing.join(", ")} not set` };
  return {
    settings: Object.fromEntries(names.map((name) => [name, process.env[name]])) as Record<Name, string>,
    missing: undefined,
  };
}

/** A test that needs the real platform: skipped by name where there is none. */
export function truth(title: string, missing: string | undefined, run: () => Promise<void>, timeout = 300_000): void {
  test.skipIf(missing !== undefined)(titled(title, missing), { timeout }, run);
}
