import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { PLATFORM_SERVERS, type PlatformServer } from "./adapter.js";
import type { Binding } from "./binding.js";
import { answerTool } from "./commands/answer-tool.js";
import { forgetCaller } from "./commands/forget-caller.js";
import { getSnapshot } from "./commands/get-snapshot.js";
import { probePlatform } from "./commands/probe-platform.js";
import type { Sessions } from "./sessions.js";

/** The bindings of each platform server. */
export type Bindings = Readonly<Record<PlatformServer, readonly Binding[]>>;

export function routes(bindings: Bindings, sessions: Sessions): Method[] {
  const { getSnapshot: snapshot, probe, forgetCaller: forget } = SnapshotService.method;
  return [
    ...PLATFORM_SERVERS.flatMap((server) => bindings[server].map((binding) => answerTool(binding, server, sessions))),
    unary(snapshot, async (r, call) => {
      const { version, edition, capabilities } = await getSnapshot(serverOf(r.server), call, sessions);
      return { version, edition, capabilities: [...capabilities] };
    }),
    unary(probe, (r, call) => probePlatform(serverOf(r.server), call, sessions)),
    unary(forget, async (r) => {
      await forgetCaller(r.userId, sessions);
      return {};
    }),
  ];
}

function serverOf(text: string): PlatformServer {
  const server = PLATFORM_SERVERS.find((name) => name === text);
  if (server === undefined) throw invalidArgument(`server: must be one of ${PLATFORM_SERVERS.join(", ")}`);
  return server;
}
