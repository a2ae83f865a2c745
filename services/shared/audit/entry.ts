import { type DescMethod, isMessage, type MessageInitShape, ScalarType } from "@bufbuild/protobuf";
import { AuditKind, type AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import type { Caller, Incoming } from "../rpc/call.js";
import { readsOnly } from "../rpc/reads-only.js";
import { auditOf } from "../rpc/steps/audit.js";
import { traceIdOf } from "../rpc/traceparent.js";

/** A record before it has its number. */
export type AuditEntry = MessageInitShape<typeof AuditRecordSchema>;

/** What the outcome of a call is called before it ended. */
export const BEGUN = "begun";

/** Scopes of rpcs that change who may do what, one's own keys among it. */
const ADMINISTRATIVE: ReadonlySet<string> = new Set(["admin", "account"]);
/**
 * Scopes of rpcs that change nothing of anybody's: our own processes' business, spans, which come by the second, and
 * what is public, of which auth notes who exchanged an assertion.
 */
const UNRECORDED: ReadonlySet<string> = new Set(["internal", "traces:write", "public"]);
/** Longest list of arguments, and longest name, that a record holds. */
const MAX_ARGUMENTS = 64;
const MAX_ARGUMENT = 100;
/** Characters of a trace id: a caller may have sent more. */
const MAX_TRACE_ID = 32;
/** What whom or what is named by, where it is not an id. */
const NAMES: ReadonlySet<string> = new Set(["email", "user_email", "server", "ring"]);

/** Of which kind the records of an rpc are; undefined for one that changes nothing of anybody's. */
export function kindOf(desc: DescMethod, scope: string): AuditKind | undefined {
  if (readsOnly(desc) || UNRECORDED.has(scope)) return undefined;
  return ADMINISTRATIVE.has(scope) ? AuditKind.ADMINISTRATION : AuditKind.WRITE;
}

/** What became of a call. */
interface Ended {
  readonly kind: AuditKind;
  readonly outcome: string;
  /** What is said of its request, where that is known already. */
  readonly facts?: ReturnType<typeof auditOf>;
}

/** What a call is written down as: who, what, about what, and the names of its arguments. */
export function entryOf(
  desc: DescMethod,
  request: unknown,
  { traceparent }: Pick<Incoming, "traceparent">,
  caller: Caller | undefined,
  { kind, outcome, facts = auditOf(desc, request) }: Ended,
): AuditEntry {
  const { args = [], target } = facts;
  const isAdministration = kind === AuditKind.ADMINISTRATION;
  return {
    kind,
    userId: caller?.id ?? "",
    userEmail: caller?.email ?? "",
    byAdministrator: caller?.admin ?? false,
    keyId: caller?.keyId ?? "",
    serviceAccount: caller?.account?.name ?? "",
    action: `${desc.parent.typeName}/${desc.name}`,
    target: target ?? (isAdministration ? named(desc, request) : ""),
    arguments: (isAdministration ? withSwitches(desc, request, args) : args)
      .slice(0, MAX_ARGUMENTS)
      .map((name) => name.slice(0, MAX_ARGUMENT)),
    outcome,
    traceId: traceIdOf(traceparent).slice(0, MAX_TRACE_ID),
    count: 1,
  };
}

/** Whom or what an administrator names otherwise than by an id. */
function named({ input }: DescMethod, request: unknown): string {
  if (!isMessage(request)) return "";
  const field = input.fields.find(({ name, scalar }) => scalar === ScalarType.STRING && NAMES.has(name));
  const value = field && (request as unknown as Record<string, string | undefined>)[field.localName];
  return (value ?? "").slice(0, 254);
}

/** Which way a switch was turned is what a record is for, and no secret. */
function withSwitches({ input }: DescMethod, request: unknown, args: readonly string[]): string[] {
  return args.map((name) => {
    const field = input.fields.find((one) => one.name === name);
    if (field?.scalar !== ScalarType.BOOL) return name;
    return `${name}=${(request as Record<string, unknown>)[field.localName]}`;
  });
}
