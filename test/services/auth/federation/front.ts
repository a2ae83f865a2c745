import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { WatchRequestSchema } from "#proto/auth/v1/watch_service_pb.js";
import type { Context } from "../../../../services/auth/context.js";
import { createEmailDomains } from "../../../../services/auth/email-domains.js";
import { createOwnOrder } from "../../../../services/auth/event-order.js";
import {
  createFederation,
  type FederatedSignIn,
  type Federation,
  type RefusedSignIn,
} from "../../../../services/auth/federation/federation.js";
import type { ProviderSetting } from "../../../../services/auth/federation/setting.js";
import { type AuthStore, openAuthStore, type UserRecord } from "../../../../services/auth/store.js";
import { createWatchHub } from "../../../../services/auth/watch-hub.js";
import { type Auditor, createAuditor } from "../../../../services/shared/audit/auditor.js";
import type { AuditEntry } from "../../../../services/shared/audit/entry.js";
import { createOutbox } from "../../../../services/shared/credentials/outbox.js";
import { createWorkLimit } from "../../../../services/shared/limits/work-limit.js";
import type { OutgoingPolicy } from "../../../../services/shared/outgoing/policy.js";
import { createLog } from "../../../../services/shared/process/log.js";
import { LOOPBACK } from "../../../support/outgoing.js";
import { SEAL, temporaryStore } from "../stack.js";

/** Pages of a deployment that people sign in to by providers alone. */
export interface Front {
  /** The public base URL, which has a path. */
  readonly base: string;
  readonly records: AuthStore;
  readonly federation: Federation;
  readonly context: FrontContext;
  /** Ends of sign-ins, the newest last. */
  readonly ended: (FederatedSignIn | RefusedSignIn)[];
  /** Lines of the log. */
  readonly logged: string[];
  /** The address that begins a sign-in. */
  startOf(providerId: string): string;
  /** Audit records so far. */
  noted(): Promise<readonly AuditEntry[]>;
  /** Ids of users that watching processes were told of. */
  readonly told: string[];
  addUser(user: Partial<UserRecord> & Pick<UserRecord, "login">): Promise<UserRecord>;
  /** @returns its id. */
  addGroup(name: string): Promise<string>;
  user(login: string): Promise<UserRecord>;
  close(): Promise<void>;
}

type FrontContext = Pick<Context, "store" | "hub" | "administrators" | "emailDomains"> & { auditor: Auditor };

/** What can be another way. */
export interface FrontOptions {
  readonly outgoing?: OutgoingPolicy;
  readonly answerMs?: number;
  readonly emailDomains?: readonly string[];
}

/** A provider with what most tests do not care about. */
export function settingOf(given: Partial<ProviderSetting> & Pick<ProviderSetting, "issuer">): ProviderSetting {
  return {
    id: "corp",
    label: "Corp",
    clientId: "sallyport",
    clientSecret: "a-secret-of-the-client-0123456789",
    scopes: [],
    emailDomains: ["corp.example"],
    emailVerifiedClaim: "email_verified",
    createsUsers: false,
    groupsClaim: "groups",
    groups: new Map(),
    administrators: undefined,
    ...given,
  };
}

/** Serves begin and callback over HTTP, on a store of its own. @param providersOf is given the base URL. */
export async function openFront(
  providersOf: (base: string) => Promise<readonly ProviderSetting[]>,
  { outgoing = LOOPBACK, answerMs, emailDomains }: FrontOptions = {},
): Promise<Front> {
  const store = await temporaryStore();
  const records = await openAuthStore(store);
  const hub = createWatchHub({ order: createOwnOrder(1, 1_000), leaseMs: 300, fenceMs: 0 });
  const logged: string[] = [];
  const log = createLog("debug", { write: (line: string) => void logged.push(line) });
  const entries: AuditEntry[] = [];
  const auditor = createAuditor({
    log,
    flushMs: 1,
    togetherMs: 5,
    send: async ({ records: given = [] }) => given.map((entry) => BigInt(entries.push(entry))),
  });
  const context: FrontContext = {
    ...{ store: records, hub, auditor },
    administrators: createWorkLimit(1, 10),
    emailDomains: createEmailDomains(emailDomains),
  };
  const told: string[] = [];
  const gone = new AbortController();
  const watching = watch(context, told, gone.signal);

  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/team`;
  const providers = await providersOf(base);
  const federation = createFederation({
    ...{ context, providers, baseUrl: base, seal: SEAL, outgoing, log },
    ...(answerMs !== undefined && { answerMs }),
  });
  const ended: (FederatedSignIn | RefusedSignIn)[] = [];
  server.on("request", async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", base);
    const begins = /\/oauth\/federation\/([^/]+)$/.exec(pathname)?.[1];
    if (begins !== undefined) {
      const begun = await federation.begin(begins, {
        returnTo: searchParams.get("return_to") ?? "",
        again: searchParams.get("again") === "yes",
      });
      if ("url" in begun) response.writeHead(303, { location: begun.url, "set-cookie": begun.setCookie }).end();
      else response.writeHead(403, { "set-cookie": begun.setCookie }).end(begun.problem);
      if ("reason" in begun) ended.push(begun);
      return;
    }
    if (pathname.includes("/oauth/federation/")) {
      const done = await federation.finish(request.url ?? "", request.headers.cookie);
      ended.push(done);
      if ("user" in done) response.writeHead(303, { location: done.returnTo, "set-cookie": done.setCookie }).end();
      else response.writeHead(403, { "set-cookie": done.setCookie }).end(done.problem);
      return;
    }
    response.end("back");
  });

  return {
    ...{ base, records, federation, context, ended, logged, told },
    startOf: (id) => `${base}/oauth/federation/${id}?return_to=${encodeURIComponent("/team/oauth/interaction/one")}`,
    async noted() {
      await sleep(20);
      return entries;
    },
    async addUser(user) {
      const now = new Date();
      const record: UserRecord = {
        ...{ _id: `user-${user.login}`, name: user.login, admin: false, disabled: false, groups: [] },
        ...{ email_verified: true, service: false, password_hash: null, created_at: now, updated_at: now },
        ...user,
      };
      await records.users.insertOne(record);
      return record;
    },
    async addGroup(name) {
      const _id = `group-${name.toLowerCase()}`;
      await records.groups.insertOne({ _id, name, name_key: name.toLowerCase(), created_at: new Date() });
      return _id;
    },
    async user(login) {
      const found = await records.users.findOne({ login });
      if (found === null) throw new Error(`there is no user ${login}`);
      return found;
    },
    async close() {
      gone.abort();
      await watching;
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await federation.close();
      await auditor.close();
      hub.close();
      await store.close();
    },
  };
}

/** Another process, which is told of each change and says when it knows. */
async function watch({ hub }: FrontContext, told: string[], signal: AbortSignal): Promise<void> {
  const requests = createOutbox<ReturnType<typeof request>>();
  const request = (message: object) => create(WatchRequestSchema, { message: message as never });
  requests.push(request({ case: "hello", value: { watcher: "another", since: 0n } }));
  for await (const { message } of hub.watch(requests, signal)) {
    if (message?.case !== "event") continue;
    told.push(String(message.value.id));
    requests.push(request({ case: "renew", value: { n: 1n, ack: message.value.seq } }));
  }
}
