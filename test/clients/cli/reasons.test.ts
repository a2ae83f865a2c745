import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkService } from "../../../clients/cli/doctor.js";
import { EXIT } from "../../../clients/cli/failures.js";
import { failureOf, isUnreached } from "../../../clients/cli/reasons.js";
import { signIn } from "../../../clients/cli/session.js";
import { freePorts } from "../../support/program.js";

const failed = (url: string): Promise<unknown> =>
  fetch(url).then(
    () => undefined,
    (error: unknown) => error,
  );

test("an address at which nobody listens is said, with what to look at", async () => {
  const [port = 0] = await freePorts(1);
  const error = await failed(`http://127.0.0.1:${port}/`);
  expect(isUnreached(error)).toBe(true);
  expect(failureOf(error)).toMatchObject({
    message: `the service does not answer (connect ECONNREFUSED 127.0.0.1:${port}): see that it runs and that its address leads to it, or give --url`,
    exitCode: EXIT.unavailable,
  });
});

test("a certificate of an authority that is not known is not a service that is away", async () => {
  const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, "../../fixtures/tls", name));
  const server = createServer({ cert: fixture("certificate.pem"), key: fixture("key.pem") });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const error = await failed(url);
    expect(isUnreached(error)).toBe(false);
    const { message, exitCode } = failureOf(error);
    expect(message).toMatch(/^the certificate at the address of the service is not accepted \(.*self.signed.*\): /);
    expect(message).toContain("NODE_EXTRA_CA_CERTS");
    expect(exitCode).toBe(EXIT.failed);
    const found = await checkService({ url, apiKey: "", dataDir: "" });
    expect(found).toMatchObject([{ check: "service", state: "wrong", found: `${url}: ${message}` }]);
  } finally {
    server.close();
  }
});

test("a store that was restored and never started has no address, and says so", () => {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  try {
    writeFileSync(join(dir, "bootstrap.json"), JSON.stringify({ base_url: "", admin: { api_key: "slp_a" } }));
    expect(() => signIn({ url: undefined, key: undefined }, { DATA_DIR: dir }).url).toThrow(
      /bootstrap\.json has no address yet: start the service once, or give --url$/,
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});
