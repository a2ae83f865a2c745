import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect } from "vitest";
import type { Session } from "../../../../../services/platform-proxy/adapter.js";
import { createIdentities } from "../../../../../services/platform-proxy/identity.js";
import { createHttpClient } from "../../../../../services/platform-proxy/lib/http.js";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { openPlatform, type Platform } from "../../../../../services/platform-proxy/platform.js";
import { createCisoAdapter } from "../../../../../services/platform-proxy/platforms/grc/adapter.js";
import { LOOPBACK } from "../../../../support/outgoing.js";
import type { Asked } from "../../../../support/platforms/answering.js";
import { type Answer, answer, type GrcAnswering, startGrcAnswering, whoAmI } from "./answering.js";

const { bindings: grcBindings } = await loadPlatform("grc");

/** Calls the tools as the analyst of the recorded exchanges. */
export interface RealCaller {
  /** Everything that was asked of the platform, in order. */
  asked(): readonly Asked[];
  /** The bodies that were sent. */
  sent(method: string, path: string): (Record<string, unknown> | undefined)[];
  queries(path: string): URLSearchParams[];
  /** What the platform answers from now on: recorded exchanges by number, or one of them changed or at another path. */
  answers(...lines: readonly number[]): void;
  answersWith(recorded: Answer, path?: string): void;
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>>;
  /** Ends the sessions at the platform. */
  leave(): Promise<void>;
}

/**
 * Starts, for each test, the adapter in front of the real platform's recorded
 * answers, and fails the test that asked for what the platform does not have.
 */
export function realCaller(): RealCaller {
  let real: GrcAnswering;
  let http: ReturnType<typeof createHttpClient>;
  let adapter: ReturnType<typeof createCisoAdapter>;
  let platform: Platform;

  beforeEach(async () => {
    real = await startGrcAnswering();
    http = createHttpClient("sallyport-test/1.0", LOOPBACK);
    adapter = createCisoAdapter();
    platform = openPlatform(adapter, sessionAt(real.url, http), createIdentities());
    for (const line of [332, 6]) real.on(answer(line));
    real.on(whoAmI());
    real.on({ ...answer(114), path: "/api/iam/logout/", method: "POST" });
  });

  afterEach(async () => {
    await adapter.close?.();
    await http.close();
    await real.close();
    expect(real.mistakes).toEqual([]);
  });

  return {
    asked: () => real.asked,
    sent: (method, path) =>
      real.asked
        .filter((one) => one.method === method && one.path === path)
        .map(({ body }) => body as Record<string, unknown> | undefined),
    queries: (path) => real.asked.filter((one) => one.path === path).map(({ query }) => query),
    answers(...lines) {
      for (const line of lines) real.on(answer(line));
    },
    answersWith: (recorded, path) => real.on(recorded, path),
    async call(method, request) {
      const binding = grcBindings.find((one) => one.method === (method as DescMethodUnary))!;
      const result = await binding.handle(create(method.input, request) as never, platform);
      return create(method.output, result as MessageInitShape<typeof method.output>);
    },
    leave: async () => adapter.close?.(),
  };
}

function sessionAt(url: string, http: Session["http"]): Session {
  return {
    caller: {
      id: "user-1",
      email: "analyst@example.test",
      name: "analyst",
      admin: false,
      groups: [],
      scopes: new Set(),
      keyId: "key-1",
      service: false,
    },
    target: { server: "grc", url, publicUrl: url, auth: "exchange", clientId: "http://client" },
    signal: new AbortController().signal,
    deadline: undefined,
    traceparent: undefined,
    tool: "Test",
    http,
    token: async (fresh) => (fresh ? "fresh token" : "token"),
  };
}

/** Objects of the recorded exchanges. */
export const ALPHA = { id: "e0efa041-6f85-4711-873c-7efa94ddc1d0", name: "Alpha Corp" };
export const ALPHA_EU = "8d3dab2c-e02e-4958-9dd0-c976e04ba786";
export const ROOT = "7af56187-ac5f-48d5-bf96-b5f239e26f97";
export const MFA = "4fe18abd-e314-4b1d-819b-28c2472b03da";
export const BACKUPS = "51649273-8639-4f81-9ba4-85d5f5f04211";
export const SCREENSHOT = "1eeb069f-1c63-4773-a496-58c53372cfc5";
export const POLICY_PAGE = "785215ac-6e66-47c2-bb94-e85889c2e670";
export const CSF = "245b004f-bc82-40d1-9967-2f9fcbde3ffc";
export const AUDIT = "49321384-c6ea-4e57-afcc-356d549ae632";
export const MISSION = "bb6ccd0e-301f-4a82-8a10-7059125eddd9";
export const STUDY = "c29e31f5-335d-4256-a456-204c79235130";

export const CONTROLS = "/api/applied-controls/";
export const REQUIREMENTS = "/api/requirement-assessments/";
export const EVIDENCE = "/api/evidences/";
