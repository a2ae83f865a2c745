import type { Call } from "../shared/rpc/call.js";
import type { Method } from "../shared/rpc/method.js";
import type { Adapter } from "./adapter.js";
import type { Binding } from "./binding.js";
import { type Context, openSession, takePlace } from "./context.js";
import { openPlatform, type Platform } from "./platform.js";

/** The tools of every platform, each answered through its binding. */
export function toolMethods(context: Context): Method[] {
  return context.platforms.flatMap(({ adapter, bindings }) =>
    bindings.map((binding) => toolMethod(context, adapter, binding)),
  );
}

/** Answers an rpc through its binding, as the calling user on the platform. */
function toolMethod(context: Context, adapter: Adapter, binding: Binding): Method {
  const desc = binding.method;
  const handle = binding.handle as (request: unknown, platform: Platform) => unknown;
  const open = async (call: Call) =>
    openPlatform(adapter, await openSession(context, adapter.server, desc.name, call), context.identities);
  if (desc.methodKind === "unary") {
    return {
      desc,
      handle: async (request: unknown, call: Call) => {
        const leave = takePlace(context, adapter.server, call);
        try {
          return await handle(request, await open(call));
        } finally {
          leave();
        }
      },
    };
  }
  return {
    desc,
    handle: async function* (request: unknown, call: Call) {
      const leave = takePlace(context, adapter.server, call);
      try {
        yield* handle(request, await open(call)) as AsyncIterable<unknown>;
      } finally {
        leave();
      }
    },
  };
}
