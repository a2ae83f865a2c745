import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { switchCoreOn } from "../../../services/launcher/switch-core-on.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { permissionDenied, unavailable } from "../../../services/shared/rpc/errors.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "first-"));
  const account = { email: "a@example.org", password: "p", api_key: "k" };
  const file = { base_url: "http://x", grpc_url: "http://x", admin: account, analyst: account };
  writeFileSync(join(dir, "bootstrap.json"), JSON.stringify(file), { mode: 0o600 });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Answers each call with the next error; undefined is a success. */
function failing(...errors: (Error | undefined)[]): Dispatch & { asked: number } {
  const dispatch = {
    asked: 0,
    async unary() {
      const error = errors[Math.min(dispatch.asked++, errors.length - 1)];
      if (error !== undefined) throw error;
      return {};
    },
  };
  return dispatch as unknown as Dispatch & { asked: number };
}

test("a first start waits for a store that cannot be reached for a moment", async () => {
  const dispatch = failing(unavailable("away"), unavailable("away"), undefined);
  expect(await switchCoreOn(dispatch, dir, silentLog)).toBe(true);
  expect(dispatch.asked).toBe(3);
});

test("a first start that cannot switch core on starts without it", async () => {
  expect(await switchCoreOn(failing(unavailable("away")), dir, silentLog, 600)).toBe(false);
  const refused = failing(permissionDenied("no"));
  expect(await switchCoreOn(refused, dir, silentLog)).toBe(false);
  expect(refused.asked).toBe(1);
});
