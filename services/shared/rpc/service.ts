import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import type { RecordAuditRequestSchema } from "#proto/auth/v1/audit_service_pb.js";
import { PLATFORM_SERVERS } from "../platforms.js";
import type { Authenticator } from "./call.js";
import type { Method } from "./method.js";

/** The services, in the order in which a process starts them: auth first. */
export const SERVICE_NAMES = ["auth", "catalogue", "platform-proxy", "core-objects", "traces"] as const;
/** The name of a service. */
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** A running service: its methods, and its life. */
export interface Service {
  readonly name: ServiceName;
  readonly methods: readonly Method[];
  /** Why the service cannot serve now; undefined when it can. */
  ready(): Promise<string | undefined>;
  /** Ends timers, streams and stores; every acknowledged write is on disk. */
  close(): Promise<void>;
}

/** The auth service, which alone can say who is calling without asking another. */
export interface AuthenticatingService extends Service {
  readonly authenticator: Authenticator;
  /** AuditService.RecordAudit for the calls of its own process, whose records need no check. Resolves to their numbers. */
  recordAudit(request: MessageInitShape<typeof RecordAuditRequestSchema>): Promise<readonly bigint[]>;
}

const SERVICE_OF_PACKAGE: Readonly<Record<string, ServiceName>> = {
  auth: "auth",
  catalogue: "catalogue",
  platform: "platform-proxy",
  ...Object.fromEntries(PLATFORM_SERVERS.map((server) => [server, "platform-proxy"] as const)),
  core: "core-objects",
  traces: "traces",
  opentelemetry: "traces",
};

const byType = new Map<string, ServiceName | undefined>();

/**
 * The service that answers an rpc, by its proto package. It is also the
 * audience of the assertions that the service accepts.
 */
export function serviceOf({ parent }: DescMethod): ServiceName | undefined {
  const { typeName } = parent;
  // Asked at every call.
  if (!byType.has(typeName)) byType.set(typeName, SERVICE_OF_PACKAGE[typeName.split(".", 1)[0] as string]);
  return byType.get(typeName);
}
