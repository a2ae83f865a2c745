import { loadPlatform } from "../../../services/platform-proxy/parts.js";
import { type CtiSandbox, type CtiSandboxOptions, startSandbox } from "../../../services/sandbox/cti/server.js";
import { emailOf, type Harness, startHarness, type Through } from "./harness.js";

/** The cti tools in front of the sandbox of their platform. */
export interface CtiHarness extends Harness {
  readonly sandbox: CtiSandbox;
  /** Asks the platform itself, past the service, as one of its users. @throws Error where it refuses. */
  ask<Data>(as: string, document: string, variables?: Readonly<Record<string, unknown>>): Promise<Data>;
}

const setupAt = async (url: string, publicUrl = url) => ({
  platform: await loadPlatform("cti"),
  as: "analyst",
  url,
  publicUrl,
});

/** Starts the cti tools in front of a sandbox. */
export async function startCti({
  through = (url) => url,
  ...options
}: Partial<CtiSandboxOptions> & Through = {}): Promise<CtiHarness> {
  const { started: sandbox, ...harness } = await startHarness(async ({ url: trust }) => {
    const settings = { historyDelayMs: 20, ...options.settings };
    const started = await startSandbox({ host: "127.0.0.1", port: 0, trust, ...options, settings });
    return { started, setup: await setupAt(through(started.url), started.url) };
  });
  return {
    ...harness,
    sandbox,
    async ask<Data>(as: string, query: string, variables = {}) {
      const token = await harness.issuer.sign({ email: emailOf(as) });
      const reply = await fetch(`${sandbox.url}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = (await reply.json()) as { data: Data; errors?: unknown };
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return data;
    },
  };
}

/** Starts the cti tools in front of a platform that runs already. */
export const startCtiAt = (url: string): Promise<Harness> =>
  startHarness(async () => ({ started: {}, setup: await setupAt(url) }));
