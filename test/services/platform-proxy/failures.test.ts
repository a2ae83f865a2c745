import type { ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { ControlService } from "#proto/grc/v1/control_service_pb.js";
import { TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { outcomeOf } from "../../../services/shared/rpc/write-outcome.js";
import { startAev } from "../../support/platforms/aev.js";
import { startCti } from "../../support/platforms/cti.js";
import { startGrc } from "../../support/platforms/grc.js";
import type { Harness } from "../../support/platforms/harness.js";
import { type Asked, type Hostile, startHostile } from "../../support/platforms/hostile.js";

// Every way in which a platform can fail, met by a read and by a write of every
// platform, over real sockets: what is told, how often it was tried, and of a
// write always whether it is known that nothing was written.

type Kind = "read" | "write";
type Run = (signal?: AbortSignal) => Promise<unknown>;

interface Rig {
  readonly hostile: Hostile;
  readonly tools: Harness;
  readonly run: Readonly<Record<Kind, Run>>;
  /** Which exchange with the platform is the one that counts. */
  readonly meets: Readonly<Record<Kind, (asked: Asked) => boolean>>;
  /** How the platform says that it does not take the token or session. */
  readonly unauthenticated: (response: ServerResponse) => void;
}

const AT_ALL = new AbortController().signal;
const json = (status: number, body: unknown) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

const RIGS: Readonly<Record<string, () => Promise<Rig>>> = {
  async cti() {
    const hostile = await startHostile();
    const tools = await startCti({ through: through(hostile) });
    const { entities } = await tools.call(SearchService.method.searchEntities, { types: ["Malware"], pageSize: 1 });
    const objectId = entities[0]?.id as string;
    return {
      hostile,
      tools,
      run: {
        read: (signal) => tools.call(SearchService.method.searchAll, { query: "a" }, undefined, signal),
        write: (signal) =>
          tools.call(
            AnnotationService.method.createNote,
            { content: "a note", objectIds: [objectId] },
            undefined,
            signal,
          ),
      },
      meets: {
        read: ({ body }) => !body.includes("query Me"),
        write: ({ body }) => body.includes("mutation"),
      },
      unauthenticated: json(200, { errors: [{ message: "x", extensions: { code: "AUTH_REQUIRED" } }], data: null }),
    };
  },
  async aev() {
    const hostile = await startHostile();
    const tools = await startAev({ through: through(hostile) });
    const tenantId = "2cffad3a-0001-4078-b0e2-ef74274022c3";
    return {
      hostile,
      tools,
      run: {
        read: (signal) => tools.call(ScenarioService.method.listScenarios, { tenantId }, undefined, signal),
        write: (signal) =>
          tools.call(ScenarioService.method.createScenario, { tenantId, name: "x" }, undefined, signal),
      },
      meets: {
        read: ({ path }) => path.includes("/scenarios/search"),
        write: ({ verb, path }) => verb === "POST" && path.endsWith("/scenarios"),
      },
      unauthenticated: json(401, {}),
    };
  },
  async grc() {
    const hostile = await startHostile();
    const tools = await startGrc("exchange", {}, through(hostile));
    const { tenants } = await tools.call(TenantService.method.listTenants, {});
    const tenantId = tenants[0]?.id as string;
    let n = 0;
    return {
      hostile,
      tools,
      run: {
        read: (signal) => tools.call(ControlService.method.listControls, { tenantId }, undefined, signal),
        write: (signal) =>
          tools.call(ControlService.method.createControl, { tenantId, name: `failing ${n++}` }, undefined, signal),
      },
      meets: {
        read: ({ verb, path }) => verb === "GET" && path.startsWith("/api/applied-controls/"),
        write: ({ verb, path }) => verb === "POST" && path.startsWith("/api/applied-controls/"),
      },
      unauthenticated: json(401, { detail: "Invalid token." }),
    };
  },
};

/** The way to a platform leads through the hostile one. */
const through = (hostile: Hostile) => (url: string) => {
  hostile.towards = url;
  return hostile.url;
};

/** What a write is told of what it did. */
const KNOWN = /nothing was changed/;
const OPEN = /may or may not have been made/;

interface Fault {
  readonly fault: (response: ServerResponse, n: number) => unknown;
  readonly code: Code;
  readonly said: RegExp;
  readonly write: RegExp;
  /** How often a read is tried. */
  readonly reads: number;
  /** The caller's time is over soon after. */
  readonly isLate?: boolean;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "cuts the connection": {
    fault: (response) => response.destroy(),
    code: Code.Unavailable,
    said: /cannot be reached/,
    write: OPEN,
    reads: 2,
  },
  hangs: {
    fault: () => undefined,
    code: Code.DeadlineExceeded,
    said: /did not answer in time/,
    write: OPEN,
    reads: 1,
    isLate: true,
  },
  "begins to answer and goes no further": {
    fault: (response) => response.writeHead(200, { "content-type": "application/json" }).write("{"),
    code: Code.DeadlineExceeded,
    said: /is slow: it answers, but did not answer this in time/,
    write: OPEN,
    reads: 1,
    isLate: true,
  },
  "takes no more requests": {
    fault: json(429, {}),
    code: Code.ResourceExhausted,
    said: /rate limit/,
    write: KNOWN,
    reads: 1,
  },
  "fails with 500": {
    fault: json(500, { message: "java.lang.NullPointerException" }),
    code: Code.Unavailable,
    said: /failed|not with its API/,
    write: OPEN,
    reads: 1,
  },
  "is behind a gateway without it": {
    fault: (response) => void response.writeHead(502).end("<html>"),
    code: Code.Unavailable,
    said: /cannot be reached|cannot answer|failed to answer|not with its API/,
    write: OPEN,
    reads: 2,
  },
  "is in maintenance": {
    fault: (response) => void response.writeHead(503).end("<html>"),
    code: Code.Unavailable,
    said: /cannot be reached|cannot answer|failed to answer|not with its API/,
    write: OPEN,
    reads: 2,
  },
  "answers half a JSON": {
    fault: (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"data":{"a":'),
    code: Code.Unavailable,
    said: /something other than|not with its API/,
    write: OPEN,
    reads: 1,
  },
  "answers with a page": {
    fault: (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>sign in</html>"),
    code: Code.Unavailable,
    said: /something other than|not with its API/,
    write: OPEN,
    reads: 1,
  },
};

/** Long enough that the beginning of an answer arrives. */
const SOON_MS = 150;

const errorOf = (promise: Promise<unknown>): Promise<ConnectError> =>
  promise.then(
    () => {
      throw new Error("nothing was refused");
    },
    (error: unknown) => ConnectError.from(error),
  );

describe.each(Object.keys(RIGS))("%s", (server) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await (RIGS[server] as () => Promise<Rig>)();
    // Who is calling is known before anything fails.
    await rig.run.read(AT_ALL);
  });
  afterEach(async () => {
    rig.hostile.disarm();
    // An answer closes the breaker.
    await rig.run.read(AT_ALL).catch(() => undefined);
  });
  afterAll(async () => {
    await rig.tools.close();
    await rig.hostile.close();
  });

  describe.each(["read", "write"] as const)("a %s of a platform that", (kind) => {
    test.each(Object.entries(FAULTS))("%s", async (_name, { fault, code, said, write, reads, isLate }) => {
      const time = new AbortController();
      rig.hostile.arm(rig.meets[kind], (response, n) => {
        if (isLate === true) setTimeout(() => time.abort(new DOMException("over", "TimeoutError")), SOON_MS);
        return fault(response, n);
      });
      const error = await errorOf(rig.run[kind](time.signal));
      expect(Code[error.code]).toBe(Code[code]);
      expect(error.rawMessage).toMatch(said);
      expect(error.rawMessage).not.toMatch(/Exception|html/);
      expect(rig.hostile.met).toBe(kind === "read" ? reads : 1);
      if (kind === "read") {
        expect(error.rawMessage).not.toMatch(OPEN);
        expect(outcomeOf(error)).toBeUndefined();
      } else {
        expect(error.rawMessage).toMatch(write);
        expect(outcomeOf(error)).toBe(write === OPEN ? Outcome.UNKNOWN : Outcome.UNCHANGED);
        expect(error.rawMessage).not.toMatch(write === OPEN ? KNOWN : OPEN);
      }
    });

    test("refuses connections", async () => {
      await rig.hostile.down();
      try {
        // Connections that were open are found closed first: what goes out on one of those may have arrived.
        await errorOf(rig.run.read());
        const error = await errorOf(rig.run[kind]());
        expect(Code[error.code]).toBe("Unavailable");
        expect(error.rawMessage).toMatch(/cannot be reached/);
        if (kind === "write") expect(error.rawMessage).toMatch(KNOWN);
        expect(error.rawMessage).not.toMatch(OPEN);
      } finally {
        await rig.hostile.up();
      }
    });

    test("restarts", async () => {
      rig.hostile.arm(rig.meets[kind], (response, n) => (n === 1 ? response.destroy() : false));
      if (kind === "read") await rig.run.read();
      else expect((await errorOf(rig.run.write())).rawMessage).toMatch(OPEN);
      expect(rig.hostile.met).toBe(kind === "read" ? 2 : 1);
    });

    test("finds the token expired on the way takes a fresh one", async () => {
      rig.hostile.arm(rig.meets[kind], (response, n) => (n === 1 ? rig.unauthenticated(response) : false));
      await rig.run[kind]();
      expect(rig.hostile.met).toBe(2);
    });

    test("has another clock says so, and that nothing was done", async () => {
      rig.hostile.arm(rig.meets[kind], rig.unauthenticated);
      const error = await errorOf(rig.run[kind]());
      expect(["PermissionDenied", "FailedPrecondition"]).toContain(Code[error.code]);
      expect(error.rawMessage).toMatch(/clock/);
      expect(outcomeOf(error)).toBe(kind === "read" ? undefined : Outcome.UNCHANGED);
      expect(error.rawMessage).not.toMatch(OPEN);
    });
  });

  test("a write that fails before it is sent says that nothing was changed", async () => {
    const before = rig.meets.write;
    await rig.tools.emit("user", "user-analyst");
    await rig.tools.emit("user", "user-planner");
    await rig.tools.emit("user", "user-officer");
    rig.hostile.arm(
      (asked) => !before(asked),
      (response) => response.destroy(),
    );
    expect((await errorOf(rig.run.write())).rawMessage).toMatch(KNOWN);
  });
});
