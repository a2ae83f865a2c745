import { loadPlatform } from "../../../services/platform-proxy/parts.js";
import { type CisoOptions, createCisoAdapter } from "../../../services/platform-proxy/platforms/grc/adapter.js";
import { type GrcSandbox, startSandbox } from "../../../services/sandbox/grc/server.js";
import { emailOf, type Harness, startHarness, type Through } from "./harness.js";

/** What of the platform's own answers is looked at. */
export interface GrcAnswer {
  readonly field_visibility: { readonly score: { readonly auditor: string } };
  readonly applied_controls: readonly unknown[];
}

/** The grc tools in front of the sandbox of their platform. */
export interface GrcHarness extends Harness {
  readonly sandbox: GrcSandbox;
  /** What a user did at the platform, by verb and path. */
  done(as: string): string[];
  /** Asks the platform itself, past the service, as one of its users. */
  ask(as: string, verb: string, path: string, body?: unknown): Promise<GrcAnswer>;
}

const setupAt = async (url: string, auth: "exchange" | "bearer", options?: CisoOptions) => ({
  platform: { ...(await loadPlatform("grc")), adapter: createCisoAdapter(options) },
  as: "officer",
  url,
  auth,
  clientId: CLIENT_ID,
});

const CLIENT_ID = "sallyport-grc";

/** Starts the grc tools in front of a sandbox, which takes our tokens as they are or in exchange for its own. */
export async function startGrc(
  auth: "exchange" | "bearer",
  options?: CisoOptions,
  through: NonNullable<Through["through"]> = (url) => url,
): Promise<GrcHarness> {
  const { started: sandbox, ...harness } = await startHarness(async ({ url: trust }) => {
    const started = await startSandbox({ host: "127.0.0.1", port: 0, trust, clientId: CLIENT_ID });
    return { started, setup: { ...(await setupAt(through(started.url), auth, options)), publicUrl: started.url } };
  });
  return {
    ...harness,
    sandbox,
    done: (as) =>
      sandbox.audit
        .filter(({ email }) => email === emailOf(as))
        .map(({ verb, path }) => `${verb} ${path.split("?")[0]}`),
    async ask(as, verb, path, body) {
      const token = await harness.issuer.sign({ aud: sandbox.url, email: emailOf(as) });
      const reply = await fetch(`${sandbox.url}${path}`, {
        method: verb,
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await reply.json()) as GrcAnswer;
    },
  };
}

/** Starts the grc tools in front of a platform that runs already. */
export const startGrcAt = (url: string, auth: "exchange" | "bearer"): Promise<Harness> =>
  startHarness(async () => ({ started: {}, setup: await setupAt(url, auth) }));
