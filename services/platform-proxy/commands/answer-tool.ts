import type { Call } from "../../shared/rpc/call.js";
import type { Method } from "../../shared/rpc/method.js";
import type { PlatformServer } from "../adapter.js";
import type { Binding } from "../binding.js";
import type { Sessions } from "../sessions.js";

/** Answers an rpc through its binding, as the calling user on the platform. */
export function answerTool(binding: Binding, server: PlatformServer, sessions: Sessions): Method {
  const desc = binding.method;
  const handle = binding.handle as (request: unknown, platform: unknown) => unknown;
  if (desc.methodKind === "unary") {
    return {
      desc,
      handle: async (request: unknown, call: Call) => handle(request, await sessions.platform(server, desc.name, call)),
    };
  }
  return {
    desc,
    handle: async function* (request: unknown, call: Call) {
      const platform = await sessions.platform(server, desc.name, call);
      yield* handle(request, platform) as AsyncIterable<unknown>;
    },
  };
}
