import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { forgetCaller } from "./commands/forget-caller.js";
import { getSnapshot } from "./commands/get-snapshot.js";
import { probePlatform } from "./commands/probe-platform.js";
import type { Context } from "./context.js";
import { toolMethods } from "./tool-methods.js";

/** Every rpc of the service: the platforms' tools, and what the catalogue asks of the platforms. */
export function routes(context: Context): readonly Method[] {
  return [
    ...toolMethods(context),
    unary(SnapshotService.method.getSnapshot, (request, call) => getSnapshot(context, request, call)),
    unary(SnapshotService.method.probe, (request, call) => probePlatform(context, request, call)),
    unary(SnapshotService.method.forgetCaller, (request) => forgetCaller(context, request)),
  ];
}
