import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import type { Call } from "../shared/rpc/call.js";
import { canceled, internal } from "../shared/rpc/errors.js";
import type { Method } from "../shared/rpc/method.js";
import type { Adapter } from "./adapter.js";
import type { Binding } from "./binding.js";
import { type Context, openSession, takePlace } from "./context.js";
import { fits } from "./fits.js";
import { misshapen } from "./lib/answers.js";
import { withOutcome } from "./lib/doubt.js";
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
  const { server } = adapter;
  const handle = binding.handle as (request: unknown, platform: Platform) => unknown;
  const open = async (call: Call) =>
    openPlatform(adapter, await openSession(context, server, desc.name, call), context.identities);
  if (desc.methodKind === "unary") {
    return {
      desc,
      async handle(request: unknown, call: Call) {
        const leave = takePlace(context, server, call);
        let platform: Platform | undefined;
        try {
          platform = await open(call);
          return checked(server, desc.output, await handle(request, platform));
        } catch (error) {
          throw told(desc, platform, server, error);
        } finally {
          leave();
        }
      },
    };
  }
  return {
    desc,
    handle: async function* (request: unknown, call: Call) {
      const leave = takePlace(context, server, call);
      let platform: Platform | undefined;
      try {
        platform = await open(call);
        for await (const one of handle(request, platform) as AsyncIterable<unknown>) {
          yield checked(server, desc.output, one);
        }
      } catch (error) {
        throw told(desc, platform, server, error);
      } finally {
        leave();
      }
    },
  };
}

function checked(server: string, output: DescMessage, result: unknown): unknown {
  if (!fits(output, result)) throw misshapen(server, "values of other types than its API has");
  return result;
}

/** What the language throws where a value is another than it was taken for. */
function isOfReading(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/** Longest sentence that is passed on: some repeat a platform's own words. */
const MAX_SENTENCE = 2_000;

/**
 * What a caller is told of a failure. A binding reads answers as the platform's
 * API shapes them: where it trips over one, the answer was another. Before it
 * has one, and over anything else, the fault is ours.
 */
function told(desc: DescMethod, platform: Platform | undefined, server: string, error: unknown): unknown {
  if (!(error instanceof ConnectError)) {
    if (platform?.signal.aborted === true) return canceled("the call was cancelled", error);
    if (platform?.hasAnswered !== true || !isOfReading(error)) {
      return internal("the tool failed; the service's log says more", error);
    }
    const said = misshapen(server, "something that cannot be read");
    said.cause = error;
    return said;
  }
  const changes = desc.idempotency !== Idempotency.NO_SIDE_EFFECTS;
  const said = changes ? withOutcome(error, platform?.hasChanged ?? false) : error;
  if (said.rawMessage.length <= MAX_SENTENCE) return said;
  return new ConnectError(`${said.rawMessage.slice(0, MAX_SENTENCE)}…`, said.code, undefined, undefined, said.cause);
}
